// Reads any text as a tokenizer.json: it is refused with exit code 65, or encodes texts to ids of
// its vocabulary that decode to UTF-8.
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/meta/utf8.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const file(reinterpret_cast<char const*>(data), size);
  try {
    auto const tokenizer = redco::tokenizer::json_tokenizer::parse(file, "tokenizer.json");
    for (std::string_view const text :
         {std::string_view("the cat's 12 caf\u00E9s e\u0301 \u4E2D\n\n  <s>abba"), file}) {
      auto const ids = tokenizer.encode(text);
      for (std::int64_t const id : ids) {
        if (id < 0 || id >= tokenizer.vocabulary_size()) std::abort();
      }
      std::string const back = tokenizer.decode(ids);
      if (redco::meta::well_formed_prefix(back) != back.size()) std::abort();
    }
  } catch (redco::error const& e) {
    if (e.code() != redco::exit_code::data) std::abort();
  }
  return 0;
}
