// Measures how fast a tokenizer.json reads, encodes and decodes real text on one core.
// - `tokenizer --tokenizer FILE --text TEXT... [--repeat-to MEGABYTES]`
//
// Prints one JSON line: seconds of processor time to read FILE, then MB/s (10^6 bytes of text), the
// best of three passes. Each file is one text. With --repeat-to, all files together, repeated up to
// this size, are one text, and there is one pass. Exit code 1 if a text does not decode to itself.

#include <redco/data/read_texts.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>

#include <redco/options/parse.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/meta/fields.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct tokenizer_options {
  std::filesystem::path tokenizer;
  std::vector<std::string> text;
  std::int64_t repeat_to = 0;

  static constexpr auto fields() {
    using o = tokenizer_options;
    return redco::fields(
        redco::required_field<"tokenizer">(&o::tokenizer, "file tokenizer.json"),
        redco::required_field<"text">(&o::text, "files, and folders whose .h and .hpp files are read"),
        redco::field<"repeat_to">(&o::repeat_to,
                                  "MB (10^6 bytes) of one text, which is all files together, repeated; "
                                  "0: each file is one text")
            .at_least(0)
            .at_most(1'000'000));
  }
};

/// Returns seconds of processor time, which other programs on the machine do not affect.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double rounded(double x) { return std::round(x * 100) / 100; }

/// Returns all texts concatenated and repeated up to `bytes`, cut between code points.
std::string one_text(std::vector<redco::data::text_file> const& files, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    for (auto const& file : files) text += file.text;
  }
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80) --bytes;
  text.resize(std::min(bytes, text.size()));
  return text;
}

int run(tokenizer_options const& o) {
  double const start = seconds();
  redco::tokenizer::json_tokenizer const tokenizer(o.tokenizer);
  double const loaded = seconds() - start;
  auto const one = static_cast<std::size_t>(o.repeat_to) * 1'000'000;
  std::vector<std::string> const extensions{".h", ".hpp"};
  std::vector<redco::data::text_file> texts = redco::read_text_files(o.text, extensions);
  if (one != 0) texts = {{"repeated", one_text(texts, one)}};

  double bytes = 0;
  for (auto const& file : texts) bytes += static_cast<double>(file.text.size());
  double encoding = 1e9;
  double decoding = 1e9;
  double count = 0;
  std::int64_t wrong = 0;
  for (int pass = 0; pass < (one == 0 ? 3 : 1); ++pass) {
    std::vector<std::vector<std::int64_t>> ids;
    double const before = seconds();
    for (auto const& file : texts)
      ids.push_back(tokenizer.encode(file.text, {.add_special = false, .find_special = false}));
    double const between = seconds();
    std::vector<std::string> back;
    for (auto const& text : ids) back.push_back(tokenizer.decode(text, {.keep_special = true}));
    double const after = seconds();
    encoding = std::min(encoding, between - before);
    decoding = std::min(decoding, after - between);
    count = 0;
    for (auto const& text : ids) count += static_cast<double>(text.size());
    wrong = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) wrong += back[i] != texts[i].text ? 1 : 0;
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  redco::json::json_value line;
  line["vocabulary"] = tokenizer.vocabulary_size();
  line["load_s"] = rounded(loaded);
  line["texts"] = texts.size();
  line["text_mb"] = rounded(bytes / 1e6);
  line["bytes_per_id"] = rounded(bytes / count);
  line["encode_mb_s"] = rounded(bytes / 1e6 / encoding);
  line["decode_mb_s"] = rounded(bytes / 1e6 / decoding);
  line["not_decoded_to_themselves"] = wrong;
  line["peak_rss_mb"] = rounded(static_cast<double>(used.ru_maxrss) * 1024 / 1e6);
  std::puts(redco::json::dump_json(line).c_str());
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(redco::options::parse_or_exit<tokenizer_options>(
                   argc, argv, "Measures how fast a tokenizer.json reads, encodes and decodes text.")
                   .values);
  } catch (redco::error const& e) {
    std::fprintf(stderr, "tokenizer: %s\n", e.what());
    return static_cast<int>(e.code());
  }
}
