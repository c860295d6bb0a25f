#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/workdir_lock.hpp>

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
