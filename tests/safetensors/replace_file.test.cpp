#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/safetensors/replace_file.hpp>

#include <redco/diag/error.hpp>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace replace_file_test {

namespace fs = std::filesystem;
using redco::safetensors::check_replaceable;
using redco::safetensors::replace_file;

std::string content(fs::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(fs::path const& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

template <class F>
std::string refusal(F const& f) {
  try {
    f();
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::io);
    return e.what();
  }
  return "accepted";
}

TEST_CASE("a file is replaced as a whole, and no other file remains") {
  temporary_folder const folder;
  fs::path const file = folder.path / "machine.json";
  replace_file(file, "first, and longer", "");
  CHECK(content(file) == "first, and longer");
  replace_file(file, "second", "");
  CHECK(content(file) == "second");
  replace_file(file, "", "");
  CHECK(content(file).empty());
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("a reader finds the complete old content or the complete new content at any time") {
  temporary_folder const folder;
  fs::path const file = folder.path / "report.txt";
  std::string const texts[] = {std::string(300'000, 'a'), std::string(200'000, 'b')};
  replace_file(file, texts[0], "");
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 1; i <= 60; ++i) replace_file(file, texts[i % 2], "");
    done = true;
  });
  int torn = 0;
  while (!done) {
    std::string const found = content(file);
    if (found != texts[0] && found != texts[1]) ++torn;
  }
  writer.join();
  CHECK(torn == 0);
}

TEST_CASE("a write that fails leaves the old file and no other file") {
  temporary_folder const folder;
  fs::path const file = folder.path / "machine.json";
  replace_file(file, "old", "");
  auto const before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  rlimit const small{1000, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string const why = refusal([&] { replace_file(file, std::string(5000, 'x'), "free some space"); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  CHECK(why == file.string() + ": cannot be written (File too large); free some space");
  CHECK(content(file) == "old");
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("a folder that cannot be written is reported before any write") {
  temporary_folder const folder;
  fs::path const there = folder.path / "there", missing = folder.path / "no" / "file", itself = folder.path;
  check_replaceable(there, "");
  CHECK(files_in(folder.path) == 0);
  std::ofstream(there) << "old";
  check_replaceable(there, "");
  CHECK(content(there) == "old");
  auto const refused = [](fs::path const& path, std::string const& why) {
    std::string const wanted = path.string() + ": cannot be written (" + why + "); give another";
    CHECK(refusal([&] { check_replaceable(path, "give another"); }) == wanted);
    CHECK(refusal([&] { replace_file(path, "new", "give another"); }) == wanted);
  };
  refused(missing, "No such file or directory");
  refused(itself, "it is a folder");
}

TEST_CASE("a link keeps pointing to the file that is replaced, and a pipe is written to") {
  temporary_folder const folder;
  fs::path const file = folder.path / "file", link = folder.path / "link", pipe = folder.path / "pipe";
  std::ofstream(file) << "old";
  fs::create_symlink("file", link);
  replace_file(link, "new", "");
  CHECK(fs::is_symlink(link));
  CHECK(content(file) == "new");

  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  int const reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  replace_file(pipe, "through", "");
  char text[16] = {};
  CHECK(::read(reader, text, sizeof text) == 7);
  ::close(reader);
  CHECK(std::string(text) == "through");
  CHECK(fs::is_fifo(pipe));
}

}  // namespace replace_file_test
