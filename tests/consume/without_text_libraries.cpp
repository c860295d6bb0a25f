// Tokenizers in a build without PCRE2, SentencePiece and libtorch: one that needs a missing library
// says so, all others work.
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/sentencepiece_tokenizer.hpp>

#include <redco/diag/error.hpp>

#include <cstdio>
#include <fstream>
#include <string>

#if defined(REDCO_WITH_PCRE2) || defined(REDCO_WITH_SENTENCEPIECE)
#error "this program is for builds without them"
#endif

namespace {

template <class Make>
bool refused(Make const& make, char const* package) {
  try {
    make();
  } catch (redco::error const& e) {
    if (e.code() == redco::exit_code::data && std::string(e.what()).find(package) != std::string::npos) return true;
    std::fprintf(stderr, "%s is not named: %s\n", package, e.what());
  }
  return false;
}

}  // namespace

int main() {
  std::string const bytes = R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})";
  bool right = refused([&] { redco::tokenizer::json_tokenizer::parse(bytes, "bytes.json"); }, "install libpcre2-dev");
  right &= refused([] { redco::tokenizer::sentencepiece_tokenizer("spiece.model"); }, "install libsentencepiece-dev");
  auto const words = redco::tokenizer::json_tokenizer::parse(
      R"({"pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece"},
    "model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "red": 1, "##co": 2}}})",
      "words.json");
  auto const ids = words.encode("redco red");
  right &= ids == std::vector<std::int64_t>{1, 2, 1} && words.decode(ids) == "redco red";
  return right ? 0 : 1;
}
