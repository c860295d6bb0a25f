#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/workdir_lock.hpp>

#include <filesystem>
#include <string>

#include <unistd.h>

TEST_CASE("a second run in a working directory is refused with 64 and the first run's process and host") {
  temporary_folder const folder;
  {
    redco::workdir::workdir_lock const first(folder / "run");
    auto const failure = ckpt_test::error_of([&] { redco::workdir::workdir_lock second(folder / "run"); });
    CHECK(failure.code == redco::exit_code::usage);
    CHECK(ckpt_test::has(failure.text, "process " + std::to_string(::getpid()) + " on host "));
    CHECK(ckpt_test::has(failure.text, (folder / "run").string()));
  }
  CHECK(ckpt_test::error_of([&] { redco::workdir::workdir_lock again(folder / "run"); }).code ==
        redco::exit_code::done);
}

TEST_CASE("a working directory that is a file is refused with 64") {
  temporary_folder const folder;
  ckpt_test::put(folder / "file", "x");
  CHECK(ckpt_test::error_of([&] { redco::workdir::workdir_lock lock(folder / "file"); }).code ==
        redco::exit_code::usage);
  CHECK(ckpt_test::error_of([&] { redco::workdir::workdir_lock lock(folder / "file/below"); }).code ==
        redco::exit_code::usage);
}

TEST_CASE("a run whose lock file another host has overwritten is refused with 64 and both holders") {
  temporary_folder const folder;
  redco::workdir::workdir_lock const lock(folder / "run");
  std::string const own = ckpt_test::get(folder / "run/.lock");
  auto const checked = [&] { return ckpt_test::error_of([&] { lock.check_holder(); }); };
  CHECK(checked().code == redco::exit_code::done);
  ckpt_test::put(folder / "run/.lock", "process 7 on host other, start 1\n");
  auto const failure = checked();
  CHECK(failure.code == redco::exit_code::usage);
  CHECK(ckpt_test::has(failure.text, "process 7 on host other, start 1"));
  CHECK(ckpt_test::has(failure.text, own.substr(0, own.size() - 1)));
  // An empty or removed file names no other run.
  ckpt_test::put(folder / "run/.lock", "");
  CHECK(checked().code == redco::exit_code::done);
  std::filesystem::remove(folder / "run/.lock");
  CHECK(checked().code == redco::exit_code::done);
}

TEST_CASE("two starts of one process write different lock files") {
  temporary_folder const folder;
  std::string texts[2];
  for (std::string& text : texts) {
    redco::workdir::workdir_lock const lock(folder / "run");
    text = ckpt_test::get(folder / "run/.lock");
  }
  CHECK(texts[0] != texts[1]);
}
