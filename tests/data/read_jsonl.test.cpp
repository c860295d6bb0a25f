#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/data/read_texts.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct jsonl_file {
  temporary_folder folder;
  std::filesystem::path path = folder.path / "redco_read.jsonl";
  explicit jsonl_file(std::string const& text) { std::ofstream(path, std::ios::binary) << text; }
};

std::vector<std::vector<std::string>> lines_of(std::string const& text, std::vector<std::string> const& keys,
                                               std::int64_t most = 0) {
  jsonl_file const file(text);
  return redco::read_jsonl(file.path, keys, most);
}

std::string refused_lines(std::string const& text, double invalid = 0, std::int64_t most = 0) {
  try {
    jsonl_file const file(text);
    redco::read_jsonl(file.path, std::vector<std::string>{"a"}, most, invalid);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    std::string const message = e.what();
    return message.substr(message.rfind("redco_read.jsonl"));
  }
  return "accepted";
}

}  // namespace

TEST_CASE("each line gives the texts of its keys in the order of the keys") {
  using rows = std::vector<std::vector<std::string>>;
  CHECK(lines_of("{\"a\": \"one\", \"b\": \"\\u00fc\"}\n\n{\"b\": \"4\", \"c\": 1, \"a\": \"\"}", {"b", "a"}) ==
        rows{{"\u00fc", "one"}, {"4", ""}});
  CHECK(lines_of("\xef\xbb\xbf{\"a\": \"one\"}\r\n  \r\n{\"a\": \"two\"}\r\n", {"a"}) == rows{{"one"}, {"two"}});
  CHECK(lines_of("{\"a\": \"1\"}\n{\"a\": \"2\"}\nno json", {"a"}, 2) == rows{{"1"}, {"2"}});
}

TEST_CASE("an invalid line is named by its number") {
  CHECK(refused_lines("{\"a\": \"one\"}\n\n{\"b\": \"two\"}\n") ==
        "redco_read.jsonl:3: no text under the key \"a\"; name the key that holds it");
  CHECK(refused_lines("{\"a\": 1}") == "redco_read.jsonl:1: no text under the key \"a\"; name the key that holds it");
  CHECK(refused_lines("[1]").find("redco_read.jsonl:1: the line is no object") == 0);
  CHECK(refused_lines("{\"a\": \"x\"}\n{\"a\": \"\xff\"}").find("redco_read.jsonl:2:") == 0);
  CHECK(refused_lines("{\"a\": \"x\"} {\"a\": \"y\"}").find("redco_read.jsonl:1:") == 0);
  CHECK(refused_lines("\n \n").find("has no line") != std::string::npos);
  CHECK(refused_lines("{\"a\": \"" + std::string(std::size_t{64} << 20, 'x') + "\"}").find("longer than 64 MiB") !=
        std::string::npos);
  CHECK_THROWS_AS(redco::read_jsonl("/nonexistent.jsonl", std::vector<std::string>{"a"}), redco::error);
}

TEST_CASE("invalid UTF-8 in lines is counted, refused above a share, and read as U+FFFD below it") {
  // Two bytes of 40 are invalid.
  std::string const latin1 = "{\"a\": \"x\"}\n{\"a\": \"na\xEFve\", \"b\": \"caf\xE9\"}\r\n";
  CHECK(refused_lines(latin1) ==
        "redco_read.jsonl:2: 0xEF at byte 9 is the first of 2 bytes of 40 that are no UTF-8: convert it with iconv -t "
        "UTF-8 and -f with its encoding, such as LATIN1, or allow this share of bytes with --invalid-utf8 0.05");
  CHECK(refused_lines(latin1, 0.049) != "accepted");
  CHECK(refused_lines(latin1, 0.05) == "accepted");
  CHECK(refused_lines(latin1, 0, 1) == "accepted");  // the second line is not read
  jsonl_file const file(latin1);
  using rows = std::vector<std::vector<std::string>>;
  CHECK(redco::read_jsonl(file.path, std::vector<std::string>{"a"}, 0, 0.05) == rows{{"x"}, {"na\uFFFDve"}});
  CHECK(refused_lines("{\"a\": \"\xE2\x82\"}").find(":1: 0xE2 at byte 7 is the first of 2 bytes of 11") !=
        std::string::npos);  // a cut code point
  CHECK(refused_lines("{\"a\": \"\xE2\x82\"}", 0.181).find("--invalid-utf8 0.181819") != std::string::npos);
  CHECK(refused_lines("{\"a\": \"\xE2\x82\"}", 0.181819) == "accepted");  // 2 of 11, rounded up
  CHECK(refused_lines("{\"b\": \"\xE9\"}", 1) ==
        "redco_read.jsonl:1: no text under the key \"a\"; name the key that holds it");
}
