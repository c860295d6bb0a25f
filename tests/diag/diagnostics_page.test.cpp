#include <redco/diag/code.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace diagnostics_page_test {

std::filesystem::path const root = std::filesystem::path(__FILE__).parent_path() / ".." / "..";

std::string text_of(std::filesystem::path const& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The contents of a reject test: its sentence, and the lines that must not compile.
struct example {
  std::string about, bad;
};

example read_example(std::filesystem::path const& file) {
  std::istringstream lines(text_of(file));
  example e;
  bool inside = false;
  std::size_t indent = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#else")) {
      inside = true;
    } else if (line.starts_with("#endif")) {
      inside = false;
    } else if (inside) {
      if (e.bad.empty()) indent = line.find_first_not_of(' ');
      e.bad += (line.size() > indent ? line.substr(indent) : "") + "\n";
    } else if (e.bad.empty() && line.starts_with("// ") && line != "// torch") {
      e.about += (e.about.empty() ? "" : " ") + line.substr(3);
    }
  }
  return e;
}

std::string page() {
  std::string text =
      "# Compile-time errors\n\nThe compiler prints one error, `redco[CODE]: sentence; cure`, and in the names of its "
      "types the "
      "layer, the\nsizes and the mesh at fault. This page is generated from `include/redco/diag/code.hpp` and "
      "`tests/reject`\n"
      "(`REDCO_APPROVE=1 test_diag` writes it again); every example is a test that must fail with this code and no "
      "other\nerror.\n";
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(root / "tests" / "reject"))
    if (entry.path().extension() == ".cpp") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (redco::diag::diagnosis const& d : redco::diag::diagnoses) {
    text += "\n## " + std::string(d.code) + ": " + std::string(d.sentence) + "\n\n" + std::string(d.cause) +
            "\n\nCure: " + std::string(d.cure) + ".\n";
    std::string closer;
    for (std::string_view const sentence : d.specific_sentences)
      if (!sentence.empty()) closer += "- " + std::string(sentence) + "\n";
    if (!closer.empty()) text += "\nIn its place one of these may be printed:\n\n" + closer;
    for (auto const& file : files) {
      if (!file.filename().string().starts_with(std::string(d.code) + "_")) continue;
      example const e = read_example(file);
      text += "\n" + e.about + " (`tests/reject/" + file.filename().string() + "`)\n\n```cpp\n" + e.bad + "```\n";
    }
  }
  return text +
         "\nNext: [your own layer](your-own-layer.md), [debugging](debugging.md), [questions and answers](faq.md).\n";
}

TEST_CASE("docs/diagnostics.md lists the codes and their reject tests") {
  auto const file = root / "docs" / "diagnostics.md";
  std::string const wanted = page();
  if (std::getenv("REDCO_APPROVE") != nullptr) std::ofstream(file) << wanted;
  INFO("REDCO_APPROVE=1 test_diag writes " << file);
  CHECK(text_of(file) == wanted);
}

TEST_CASE("every example has a sentence and bad lines") {
  for (auto const& entry : std::filesystem::directory_iterator(root / "tests" / "reject")) {
    if (entry.path().extension() != ".cpp") continue;
    INFO(entry.path());
    example const e = read_example(entry.path());
    CHECK(e.about.ends_with('.'));
    CHECK_FALSE(e.bad.empty());
  }
}

}  // namespace diagnostics_page_test
