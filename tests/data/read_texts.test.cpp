#include "catch.hpp"

#include "temporary_folder.hpp"

#include <redco/data/read_texts.hpp>
#include <redco/diag/error.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct mixed_folder : temporary_folder {
  std::string write(std::string const& name, std::string const& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
};

using texts = std::vector<std::string>;

std::string refused_texts(std::string const& path, std::string const& key = "text") {
  try {
    redco::read_texts({&path, 1}, key);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return std::string(e.what()).substr(std::string(e.what()).rfind('/') + 1);
  }
  return "accepted";
}

}  // namespace

TEST_CASE("JSONL is read by its extension in any case, alone and in a folder") {
  mixed_folder const folder;
  std::string const rows = "{\"text\": \"one\"}\n{\"text\": \"two\"}\n";
  for (std::string const name : {"a.jsonl", "a.JSONL", "a.Jsonl", "a.ndjson", "a.json", "a.JSON"}) {
    INFO(name);
    std::string const path = folder.write(name, rows);
    CHECK(redco::read_texts({&path, 1}) == texts{"one", "two"});
    std::string const below = folder.path.string();
    CHECK(redco::read_texts({&below, 1}) == texts{"one", "two"});
    std::filesystem::remove(path);
  }
  folder.write("a.JSONL", rows), folder.write("b.txt", "three"), folder.write("c.jsonl", "");
  std::string const all = folder.path.string();
  CHECK(redco::read_texts({&all, 1}) == texts{"one", "two", "three"});
}

TEST_CASE("a .json file of lines is read once") {
  mixed_folder const folder;
  std::string rows;
  for (int row = 0; row < 20000; ++row) rows += "{\"text\": \"a row of some text\"}\n";
  std::string const path = folder.write("a.json", rows);
  auto const bytes_read = [] {  // bytes read by this process
    std::ifstream in("/proc/self/io");
    std::string word;
    std::size_t count = 0;
    in >> word >> count;
    return count;
  };
  std::size_t const before = bytes_read();
  CHECK(redco::read_texts({&path, 1}).size() == 20000);
  CHECK(bytes_read() - before < rows.size() * 3 / 2);
}

TEST_CASE("a .json file may be an array of objects") {
  mixed_folder const folder;
  std::string const path = folder.write("a.json", " \n[{\"t\": \"one\", \"x\": 1},\n {\"t\": \"two\"}]\n");
  CHECK(redco::read_texts({&path, 1}, "t") == texts{"one", "two"});
  CHECK(refused_texts(path) == "a.json: element 1 has no text under the key \"text\"; name the key that holds it");
  folder.write("a.json", "[{\"text\": \"one\"}, \"two\"]");
  CHECK(refused_texts(path).starts_with("a.json: element 2 has no text"));
  folder.write("a.json", "[{\"text\": \"one\"}, ");
  CHECK(refused_texts(path).starts_with("a.json:1:"));
  folder.write("a.json", "plain text");
  CHECK(refused_texts(path).starts_with("a.json:1:1:"));
}

TEST_CASE("JSONL that is compressed, UTF-16 or contains NUL is refused with its file or row") {
  mixed_folder const folder;
  CHECK(refused_texts(folder.write("a.jsonl", "\x1F\x8B\x08\x01")).find("gunzip") != std::string::npos);
  CHECK(refused_texts(folder.write("a.jsonl", std::string("\xFF\xFE{\0", 4))).find("UTF-16") != std::string::npos);
  CHECK(refused_texts(folder.write("a.jsonl", "{\"text\": \"a\"}\n\n{\"text\": \"b\\u0000c\"}\n"))
            .starts_with("a.jsonl:3:"));
  CHECK(refused_texts(folder.write("a.jsonl", std::string("{\"text\": \"a\"}\n{\"text\": \"b\0c\"}\n", 30)))
            .starts_with("a.jsonl:2:"));
}

TEST_CASE("the allowed share of invalid UTF-8 applies to texts of every path") {
  mixed_folder const folder;
  folder.write("a.txt", "caf\xE9");
  std::string const path = folder.path.string();
  CHECK(refused_texts(path).starts_with("a.txt has 1 bytes of 4"));
  CHECK(redco::read_texts({&path, 1}, "text", 0.25) == texts{"caf\xE9"});
}

TEST_CASE("the share applies to lines and arrays of JSON, and the refusal names the option and iconv") {
  mixed_folder const folder;
  for (auto const& [name, bytes, where] :
       {std::array<std::string, 3>{"a.jsonl", "{\"text\": \"caf\xE9\"}\n", "a.jsonl:1: 0xE9 at byte 13 "},
        std::array<std::string, 3>{"a.json", "{\"text\": \"caf\xE9\"}\n", "a.json:1: 0xE9 at byte 13 "},
        std::array<std::string, 3>{"a.json", "[{\"text\":\"caf\xE9\"}]", "a.json has 1 bytes of 17 "}}) {
    std::string const path = folder.write(name, bytes), refused = refused_texts(path);
    CAPTURE(refused);
    CHECK(refused.starts_with(where));
    CHECK(refused.find("iconv -t UTF-8") != std::string::npos);
    CHECK(refused.find("--invalid-utf8 0.0") != std::string::npos);
    CHECK(refused.find('\xE9') == std::string::npos);
    CHECK(redco::read_texts({&path, 1}, "text", 0.06) == texts{"caf\uFFFD"});
  }
}

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
