#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/detail/durable_folder.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include "workdir/recording_ops.hpp"

#include <filesystem>
#include <string>
#include <vector>

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

TEST_CASE("the names of a working directory and of its new parents are made durable") {
  temporary_folder const folder;
  auto const root = std::filesystem::canonical(folder.path);
  ckpt_test::recording_ops ops(root);
  CHECK(!redco::workdir::detail::make_durable_folder(ops, root / "a/b/run"));
  CHECK(std::filesystem::is_directory(root / "a/b/run"));
  REQUIRE(ops.log.size() == 4);
  CHECK(std::vector<std::string>(ops.log.begin(), ops.log.begin() + 3) ==
        std::vector<std::string>{"syncdir a/b", "syncdir a", "syncdir "});
  ops.log.clear();
  CHECK(!redco::workdir::detail::make_durable_folder(ops, root / "a/b/run"));
  CHECK(ops.log == std::vector<std::string>{"syncdir a/b"});
  ops.log.clear();
  ckpt_test::put(root / "file", "x");
  CHECK(redco::workdir::detail::make_durable_folder(ops, root / "file/run"));
  CHECK(ops.log.empty());
}
