#include <redco/data/read_text_files.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"
#include "temporary_folder.hpp"

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

TEST_CASE("a text that cannot be used is named with its reason") {
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
