#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/data/read_texts.hpp>
#include <redco/diag/error.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct text_folder : temporary_folder {
  text_folder() {
    fs::create_directories(path / "b" / "deep");
    fs::create_directories(path / "none");
    write("b/deep/z.txt", "last");
    write("b/a.hpp", "first");
    write("a.txt", "second");
    write("empty.txt", "");
    fs::create_symlink("nowhere", path / "b" / "dangling.txt");
  }
  void write(char const* name, char const* text) const { std::ofstream(path / name) << text; }
  std::string operator/(char const* name) const { return (path / name).string(); }
};

std::string text_refusal(std::vector<std::string> const& paths, std::vector<std::string> const& extensions = {}) {
  try {
    redco::read_text_files(paths, extensions);
  } catch (redco::error const& e) {
    REQUIRE(e.code() == redco::exit_code::data);
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("folders are read recursively, sorted, by extension, without empty files") {
  text_folder const folder;
  std::vector<std::string> const paths{folder / "b", folder / "a.txt"};
  auto const all = redco::read_text_files(paths);
  REQUIRE(all.size() == 3);
  REQUIRE(all[0].text == "first");
  REQUIRE(all[1].text == "last");
  REQUIRE(all[1].path == folder / "b/deep/z.txt");
  REQUIRE(all[2].text == "second");
  std::vector<std::string> const root{folder / ""}, extensions{".txt"};
  REQUIRE(redco::read_text_files(root, extensions).size() == 2);
}

TEST_CASE("an unusable text is named with its reason") {
  text_folder const folder;
  auto const says = [&](std::string const& path, char const* why, std::vector<std::string> const& extensions = {}) {
    std::string const refusal = text_refusal({folder / "a.txt", path}, extensions);
    CAPTURE(refusal);
    REQUIRE(refusal.find(path) != std::string::npos);
    REQUIRE(refusal.find(why) != std::string::npos);
  };
  says(folder / "missing", "does not exist");
  says(folder / "empty.txt", "is empty");
  says(folder / "none", "folder without text");
  says(folder / "b", "folder without text", {".cpp"});
  says("/dev/null", "neither a file nor a folder");
  REQUIRE(text_refusal({}).find("no text") != std::string::npos);
  if (::geteuid() != 0) {
    fs::permissions(folder.path / "a.txt", fs::perms::none);
    says(folder / "a.txt", "cannot be read");
  }
}

namespace {

using namespace std::string_literals;

/// Writes one file and returns the message with which it is refused as text, from its name on.
std::string refusal_of(std::string const& name, std::string const& bytes, double invalid = 0) {
  temporary_folder const folder;
  std::string const path = (folder.path / name).string();
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    redco::read_text_files({&path, 1}, {}, invalid);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return std::string(e.what()).substr(std::string(e.what()).rfind(name));
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a file whose first bytes are compressed or UTF-16 is refused with any name and any share") {
  CHECK(refusal_of("a.txt", "\x1F\x8B\x08 and more", 1) ==
        "a.txt is compressed by gzip: unpack it with gunzip, and give the result");
  for (std::string const& bytes :
       {"\x28\xB5\x2F\xFD."s, "BZh9"s, "\xFD\x37zXZ\0.."s, "PK\x03\x04.."s, "PAR1.."s, "%PDF-1.7"s})
    CHECK(refusal_of("a.txt", bytes, 1).find(", and give the result") != std::string::npos);
  for (std::string const& bytes :
       {"\xFF\xFEh\0i\0"s, "\xFE\xFF\0h\0i"s, "\xFF\xFE\0\0h\0\0\0"s, "\0\0\xFE\xFF\0\0\0h"s})
    CHECK(refusal_of("a.txt", bytes, 1).find("UTF-16 or UTF-32: convert it with iconv") != std::string::npos);
}

TEST_CASE("NUL bytes and invalid UTF-8 are counted and refused above the given share") {
  std::string const latin1 = "na\xEFve caf\xE9s, 20 bytes";  // 2 of 21
  std::string const refused = refusal_of("a.txt", latin1);
  CHECK(refused.starts_with("a.txt has 2 bytes of 21 that are NUL or no UTF-8, the first at byte 2"));
  CHECK(refused.find("--invalid-utf8 0.0952") != std::string::npos);
  CHECK(refusal_of("a.txt", latin1, 0.09) != "accepted");
  CHECK(refusal_of("a.txt", latin1, 0.1) == "accepted");
  // UTF-16 without a byte order mark
  CHECK(refusal_of("a.txt", "h\0i\0"s).starts_with("a.txt has 2 bytes of 4"));
  CHECK(refusal_of("a.txt", "h\0\xE9"s).find("the first at byte 1:") != std::string::npos);
  // An incomplete code point
  CHECK(refusal_of("a.txt", "h\xE2\x82"s).starts_with("a.txt has 2 bytes of 3"));
  CHECK(refusal_of("a.txt", "na\u00EFve \U0001F600") == "accepted");
}

TEST_CASE("a byte order mark is not part of the text") {
  temporary_folder const folder;
  std::string const path = (folder.path / "a.txt").string();
  std::ofstream(path, std::ios::binary) << "\xEF\xBB\xBFtext";
  CHECK(redco::read_text_files({&path, 1}).front().text == "text");
}

TEST_CASE("windows predict each byte except the first of a file exactly once") {
  std::vector<redco::data::text_file> const files{{"a", "abcdefgh"}, {"b", "x"}, {"c", "0123456"}, {"d", "pq"}};
  auto const windows = redco::text_windows(files, 3);
  REQUIRE(windows == std::vector<std::string>{"abcd", "defg", "gh", "0123", "3456", "pq"});
  REQUIRE_THROWS_AS(redco::text_windows(std::vector<redco::data::text_file>{{"b", "x"}}, 3), redco::error);
}
