#include "catch.hpp"
#include "refused.hpp"
#include "resident_memory.hpp"
#include "temporary_folder.hpp"

#include <redco/data/examples.hpp>
#include <redco/data/jsonl_index.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using redco::data::jsonl_index;
using redco::data::jsonl_texts;
using row = jsonl_index::row;

static_assert(redco::data::example_range<jsonl_index> && redco::data::example_range<jsonl_texts>);
static_assert(std::random_access_iterator<jsonl_texts::iterator>);

struct indexed_file {
  temporary_folder folder;
  std::filesystem::path path = folder.path / "train.jsonl";
  explicit indexed_file(std::string const& text) { std::ofstream(path, std::ios::binary) << text; }
};

/// Returns the error of a file, from the name of the file on.
std::string refused_file(std::string const& text) {
  indexed_file const file(text);
  std::string const message = refused([&] { jsonl_index(file.path, {"a"}).check(); });
  return message.empty() ? "" : message.substr(message.find("train.jsonl"));
}

}  // namespace

TEST_CASE("rows of a JSONL file are read by index, in any order") {
  indexed_file const file(
      "\xef\xbb\xbf{\"a\": \"one\", \"b\": \"1\"}\r\n\n \t\r\n{\"b\": \"2\", \"c\": 3, \"a\": \"\\u00fc\"}\n"
      "{\"a\": \"\", \"b\": \"3\"}");
  jsonl_index const rows(file.path, {"b", "a"});
  REQUIRE(rows.size() == 3);
  CHECK(rows[2] == row{"3", ""});
  CHECK(rows[0] == row{"1", "one"});
  CHECK(rows[1] == row{"2", "\u00fc"});
  jsonl_texts const texts(file.path, "a");
  CHECK(std::vector<std::string>(texts.begin(), texts.end()) == std::vector<std::string>{"one", "\u00fc", ""});
  CHECK(texts.end() - texts.begin() == 3);
  redco::examples<std::string> const examples{texts};
  CHECK(examples[std::vector<std::int64_t>{1, 0}].span()[1] == "one");
  jsonl_texts const copy = [&] { return jsonl_texts(file.path, "b"); }();
  CHECK(copy[2] == "3");
}

TEST_CASE("a wrong line of an indexed JSONL file is named by file and number") {
  CHECK(refused_file("{\"a\": \"x\"}\n\n{\"b\": \"y\"}\n") ==
        "train.jsonl:3: no text under the key \"a\"; name the key that holds it");
  CHECK(refused_file("{\"a\": \"x\"}\n[1]\n").find("train.jsonl:2: the line is no object") == 0);
  CHECK(refused_file("{\"a\": \"x\"}\n{\"a\": \"\xff\"}").find("train.jsonl:2:") == 0);
  CHECK(refused_file("{\"a\": \"x\"}\n{\"a\"").find("train.jsonl:2:") == 0);
  CHECK(refused_file("\n \n") == "train.jsonl has no line; give a file with examples");
  CHECK(refused_file("") == "train.jsonl has no line; give a file with examples");
  CHECK(refused_file("\x1f\x8b...").find("train.jsonl is compressed by gzip") == 0);
  CHECK(refused_file("\n{\"a\": \"" + std::string(std::size_t{64} << 20, 'x') + "\"}") ==
        "train.jsonl:2: the line is longer than 64 MiB; split it, or correct the file");
  CHECK(refused([] { jsonl_texts("/nonexistent.jsonl"); }).find("65 cannot read /nonexistent.jsonl") == 0);
  indexed_file const file("{\"a\": \"x\"}\nno json\n");
  jsonl_index const rows(file.path, {"a"});  // lines are parsed on access
  CHECK(rows[0] == row{"x"});
  CHECK(refused([&] { rows[1]; }).find("train.jsonl:2:") != std::string::npos);
}

TEST_CASE("threads read a JSONL file of 120 MB within 50 MB of resident memory") {
  temporary_folder const folder;
  std::filesystem::path const path = folder / "large.jsonl";
  std::string const padding(30'000, 'x');
  {
    std::ofstream out(path, std::ios::binary);
    for (int i = 0; i < 4'000; ++i) out << "{\"text\": \"" << i << "\", \"rest\": \"" << padding << "\"}\n";
  }
  std::int64_t const before = resident_bytes();
  jsonl_texts const texts(path);
  REQUIRE(texts.size() == 4'000);
  if (!keeps_freed_memory) CHECK(resident_bytes() - before < 50'000'000);
  int wrong[2] = {0, 0};
  auto const read = [&](int first) {
    for (int k = first; k < 4'000; k += 2) {
      int const i = k * 7919 % 4'000;
      wrong[first] += texts[i] == std::to_string(i) ? 0 : 1;
    }
  };
  std::thread other([&] { read(1); });
  read(0);
  other.join();
  CHECK(wrong[0] + wrong[1] == 0);
  if (!keeps_freed_memory) CHECK(resident_bytes() - before < 50'000'000);
}
