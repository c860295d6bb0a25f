#include <redco/diag/code.hpp>
#include <redco/diag/error.hpp>

#include "catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

// Returns the joined texts of the adjacent string literals that begin at text[at] == '"'.
std::string joined_literal(std::string const& text, std::size_t at) {
  std::string joined;
  while (at < text.size() && text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
      joined += text[at];
    }
    at = text.find_first_not_of(" \n", at + 1);
  }
  return joined;
}

struct found_literal {
  std::string file;
  std::string text;
};

std::vector<found_literal> literals_in_headers() {
  std::vector<found_literal> found;
  auto const root = std::filesystem::path(__FILE__).parent_path() / ".." / ".." / "include";
  for (auto const& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".hpp" || entry.path().filename() == "code.hpp") continue;
    std::ifstream file(entry.path());
    std::string const text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (auto at = text.find("\"redco["); at != std::string::npos; at = text.find("\"redco[", at + 1)) {
      auto const line = text.rfind('\n', at);
      bool const comment = text.find("//", line) < at;
      if (!comment) found.push_back({entry.path().string(), joined_literal(text, at)});
    }
  }
  return found;
}

}  // namespace

TEST_CASE("every message in a header begins with its code's sentence and continues with a cure") {
  auto const found = literals_in_headers();
  // The pipeline alone has as many: with none found, the test would prove nothing
  REQUIRE(found.size() >= 6);
  for (auto const& [file, text] : found) {
    INFO(file << ": " << text);
    bool known = false;
    for (auto const& row : redco::diag::diagnoses) {
      std::vector<std::string_view> sentences(row.specific_sentences.begin(), row.specific_sentences.end());
      sentences.push_back(row.sentence);
      for (auto const sentence : sentences) {
        std::string const beginning = "redco[" + std::string(row.code) + "]: " + std::string(sentence) + "; ";
        known = known || (!sentence.empty() && text.starts_with(beginning) && text.size() > beginning.size());
      }
    }
    CHECK(known);
  }
}

TEST_CASE("a code is a letter and three digits and has one complete row") {
  std::set<std::string_view> seen;
  for (auto const& row : redco::diag::diagnoses) {
    INFO(row.code);
    CHECK(row.code.size() == 4);
    CHECK(std::string_view("OPSCRL").find(row.code[0]) != std::string_view::npos);
    CHECK(row.code.find_first_not_of("0123456789", 1) == std::string_view::npos);
    CHECK((!row.sentence.empty() && !row.cause.empty() && !row.cure.empty()));
    CHECK(row.sentence.find(';') == std::string_view::npos);
    CHECK(seen.insert(row.code).second);
  }
}

TEST_CASE("a code is found by its name") {
  STATIC_REQUIRE(redco::diag::diagnosis_of("S003").sentence == "a declared split does not divide");
  STATIC_REQUIRE(redco::diag::diagnosis_of("X999").code.empty());
}

TEST_CASE("an error carries its exit code and its sentence") {
  redco::error const e(redco::exit_code::data, "train.txt is empty");
  CHECK(e.code() == redco::exit_code::data);
  CHECK(static_cast<int>(e.code()) == 65);
  CHECK(std::string(e.what()) == "train.txt is empty");
}
