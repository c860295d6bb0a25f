#include "safetensors/support.hpp"

#include "catch.hpp"

#include <redco/workdir/checkpoint_room.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace {

redco::exit_code code_of(std::function<void()> const& call, std::string* text = nullptr) {
  try {
    call();
    return redco::exit_code::done;
  } catch (redco::error const& e) {
    if (text != nullptr) *text = e.what();
    return e.code();
  }
}

}  // namespace

TEST_CASE("a ckpts path that is not a folder and a full disk are reported before the work") {
  temporary_folder const folder;
  auto const ckpts = folder.path / "ckpts";
  auto const check = [&] { redco::workdir::checkpoint_room::check_folder(folder.path); };
  std::string text;
  CHECK(code_of(check) == redco::exit_code::done);
  std::filesystem::create_symlink("nowhere", ckpts);
  CHECK(code_of(check, &text) == redco::exit_code::usage);
  CHECK(text.find(ckpts.string() + " is a link to no folder") == 0);
  std::filesystem::create_directory(folder.path / "nowhere");
  CHECK(code_of(check) == redco::exit_code::done);
  std::filesystem::remove(ckpts);
  std::ofstream(ckpts) << "x";
  CHECK(code_of(check, &text) == redco::exit_code::usage);
  CHECK(text.find(ckpts.string() + " is a file") == 0);

  auto const room = [&](std::uintmax_t available) {
    return code_of([&] { redco::workdir::checkpoint_room::check_space(folder.path, 156, available); }, &text);
  };
  CHECK(room(156) == redco::exit_code::done);
  CHECK(room(155) == redco::exit_code::io);
  CHECK(text.find("156 bytes") != std::string::npos);
  CHECK(redco::workdir::checkpoint_room::available(folder.path) > 0);
}

TEST_CASE("a disk with room for fewer checkpoints than a run keeps and writes is named with both numbers") {
  auto const warning = [](std::int64_t kept, std::uintmax_t available) {
    return redco::workdir::checkpoint_room::warning("run", 100, kept, available);
  };
  CHECK(warning(3, 400).empty());
  CHECK(ckpt_test::has(warning(3, 399), "up to 3 more checkpoints of 100 bytes"));
  CHECK(ckpt_test::has(warning(3, 399), "run has room for 3"));
  CHECK(warning(0, 100).empty());
  CHECK(!warning(0, 99).empty());
  CHECK(redco::workdir::checkpoint_room::warning("run", 0, 3, 0).empty());
}
