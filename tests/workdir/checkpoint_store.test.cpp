#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/checkpoint_store.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/repair_checkpoints.hpp>
#include <redco/workdir/retention.hpp>

#include "workdir/crash_disk.hpp"
#include "workdir/recording_ops.hpp"
#include "workdir/saved_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using ckpt_test::recording_ops;

redco::workdir::manifest facts_of(std::int64_t step, std::string const& run = "run-a") {
  redco::workdir::manifest facts;
  facts.run = run;
  facts.step = step;
  return facts;
}

void save_empty(redco::workdir::checkpoint_store<recording_ops>& store, std::int64_t step,
                std::string const& run = "run-a") {
  store.begin(step);
  store.commit(facts_of(step, run));
}

}  // namespace

TEST_CASE("a checkpoint gets its name after its manifest and directory are on the disk, and pointers follow") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  redco::workdir::checkpoint_store<recording_ops> store(ops, folder / "ckpts", "run-a");
  save_empty(store, 7);
  store.point(7, {"min_loss"});
  std::string const tmp = "ckpts/.tmp-step_7-run-a";
  CHECK(ops.log == std::vector<std::string>{"mkdir ckpts",
                                            "syncdir ",
                                            "remove " + tmp,
                                            "mkdir " + tmp,
                                            "create " + tmp + "/.token",
                                            "write " + tmp + "/.token",
                                            "sync " + tmp + "/.token",
                                            "close " + tmp + "/.token",
                                            "remove " + tmp + "/.token",
                                            "create " + tmp + "/manifest.json",
                                            "write " + tmp + "/manifest.json",
                                            "sync " + tmp + "/manifest.json",
                                            "close " + tmp + "/manifest.json",
                                            "syncdir " + tmp,
                                            "rename " + tmp + " ckpts/step_7",
                                            "syncdir ckpts",
                                            "remove ckpts/.tmp-last_ckpt.txt-run-a",
                                            "create ckpts/.tmp-last_ckpt.txt-run-a",
                                            "write ckpts/.tmp-last_ckpt.txt-run-a",
                                            "sync ckpts/.tmp-last_ckpt.txt-run-a",
                                            "close ckpts/.tmp-last_ckpt.txt-run-a",
                                            "rename ckpts/.tmp-last_ckpt.txt-run-a ckpts/last_ckpt.txt",
                                            "syncdir ckpts",
                                            "remove ckpts/.tmp-last-run-a",
                                            "link step_7 ckpts/.tmp-last-run-a",
                                            "rename ckpts/.tmp-last-run-a ckpts/last",
                                            "syncdir ckpts",
                                            "remove ckpts/.tmp-min_loss-run-a",
                                            "link step_7 ckpts/.tmp-min_loss-run-a",
                                            "rename ckpts/.tmp-min_loss-run-a ckpts/min_loss",
                                            "syncdir ckpts"});
  CHECK(ckpt_test::get(folder / "ckpts/last_ckpt.txt") == "step_7\n");
  CHECK(std::filesystem::read_symlink(folder / "ckpts/last") == "step_7");
  CHECK(std::filesystem::exists(folder / "ckpts/min_loss/manifest.json"));
}

TEST_CASE("a checkpoint without one of its files, or with a shorter one, does not get its name") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  redco::workdir::checkpoint_store<recording_ops> store(ops, folder / "ckpts", "run-a");
  redco::workdir::manifest facts = facts_of(3);
  facts.files["parameters-0of2.safetensors"] = {5, 0};
  facts.files["parameters-1of2.safetensors"] = {4, 0};
  auto const refused = [&] { return ckpt_test::error_of([&] { store.commit(facts); }); };
  auto const tmp = store.begin(3);
  ckpt_test::put(tmp / "parameters-0of2.safetensors", "12345");
  auto const missing = refused();
  CHECK(missing.code == redco::exit_code::io);
  CHECK(ckpt_test::has(missing.text, (tmp / "parameters-1of2.safetensors").string() + " is missing, of 4 bytes"));
  ckpt_test::put(tmp / "parameters-1of2.safetensors", "123");
  auto const shorter = refused();
  CHECK(shorter.code == redco::exit_code::io);
  CHECK(ckpt_test::has(shorter.text, "parameters-1of2.safetensors has 3 bytes, not 4"));
  CHECK(!std::filesystem::exists(folder / "ckpts/step_3"));
  ckpt_test::put(tmp / "parameters-1of2.safetensors", "1234");
  CHECK(refused().code == redco::exit_code::done);
  CHECK(std::filesystem::exists(folder / "ckpts/step_3/parameters-1of2.safetensors"));
  CHECK(!std::filesystem::exists(folder / "ckpts/step_3/.token"));
}

TEST_CASE("two unfinished folders of one step have different tokens, and a host without the folder has none") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  redco::workdir::checkpoint_store<recording_ops> here(ops, folder / "here/ckpts", "run-a");
  redco::workdir::checkpoint_store<recording_ops> there(ops, folder / "there/ckpts", "run-a");
  std::filesystem::create_directory(folder / "here");
  std::filesystem::create_directory(folder / "there");
  here.begin(3);
  CHECK(here.token(3).size() == 16);
  CHECK(there.token(3).empty());
  there.begin(3);
  CHECK(there.token(3) != here.token(3));
  std::string const before = here.token(3);
  here.begin(3);
  CHECK(here.token(3) != before);
}

TEST_CASE("retention removes the oldest of its own run and nothing that a pointer names") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  redco::workdir::checkpoint_store<recording_ops> store(ops, folder / "ckpts", "run-a");
  redco::workdir::checkpoint_store<recording_ops> other(ops, folder / "ckpts", "run-b");
  save_empty(other, 1, "run-b");
  for (std::int64_t const step : {2, 3, 4, 5, 6, 10}) save_empty(store, step);
  std::filesystem::create_directories(folder / "ckpts/step_0");  // has no manifest: left alone
  store.point(3, {"min_loss"});
  store.point(10, {"epoch_1"});
  ops.log.clear();
  store.retain(2);
  CHECK(redco::workdir::checkpoint_names::steps_in(folder / "ckpts") == std::vector<std::int64_t>{10, 6, 3, 1, 0});
  auto const moved = std::find(ops.log.begin(), ops.log.end(), "rename ckpts/step_2 ckpts/.trash-step_2-run-a");
  REQUIRE(moved != ops.log.end());
  CHECK(*(moved + 1) == "syncdir ckpts");
  CHECK(std::find(moved, ops.log.end(), "remove ckpts/.trash-step_2-run-a/manifest.json") != ops.log.end());
  CHECK(std::find(ops.log.begin(), moved, "rename ckpts/step_4 ckpts/.trash-step_4-run-a") == moved);
  store.retain(0);
  CHECK(redco::workdir::checkpoint_names::steps_in(folder / "ckpts").size() == 5);
}

TEST_CASE("saving a step again replaces the whole older checkpoint") {
  temporary_folder const folder;
  for (bool const swaps : {true, false}) {
    recording_ops ops(folder.path);
    ops.can_exchange = swaps;
    redco::workdir::checkpoint_store<recording_ops> first(ops, folder / "ckpts", "run-a");
    save_empty(first, 4);
    redco::workdir::checkpoint_store<recording_ops> second(ops, folder / "ckpts", "run-b");
    save_empty(second, 4, "run-b");
    CHECK(redco::workdir::read_manifest(folder / "ckpts/step_4").run == "run-b");
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "ckpts"), {}) == 1);
  }
}

TEST_CASE("a power cut at any time while a step is saved again leaves one of its two checkpoints") {
  for (bool const swaps : {true, false}) {
    for (std::string const second : {"run-a", "run-b"}) {
      temporary_folder const folder, states;
      ckpt_test::crash_disk disk(folder.path, swaps);
      ckpt_test::save_bytes_with(disk, folder.path, 4, "run-a", {"epoch_0"});
      std::size_t const before = disk.events();
      ckpt_test::save_bytes_with(disk, folder.path, 4, second, {"epoch_1"});
      std::set<std::vector<std::string>> found_names;
      std::size_t const all = disk.each_state(before, states.path, [&](std::filesystem::path const& workdir) {
        auto const failure = ckpt_test::error_of([&] {
          redco::workdir::workdir_lock const lock(workdir);
          redco::workdir::sweep_checkpoints(lock, "run-c");
          auto const found = redco::workdir::find_checkpoint(workdir, "auto", {.warn = [](std::string const&) {}});
          found_names.insert(found.value().facts.names);
          CHECK(found->facts.step == 4);
        });
        CHECK(failure.text.empty());
        for (auto const& entry : std::filesystem::directory_iterator(workdir / "ckpts"))
          CHECK(!entry.path().filename().string().starts_with(".replaced-"));
      });
      INFO((swaps ? "names can be swapped, " : "names cannot be swapped, ") << second << ", " << all << " states");
      CHECK(all > 20);
      CHECK(found_names.size() == 2);
    }
  }
}

TEST_CASE("a new folder that cannot get the name of an older checkpoint leaves that checkpoint") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  ops.can_exchange = false;
  redco::workdir::checkpoint_store<recording_ops> first(ops, folder / "ckpts", "run-a");
  save_empty(first, 4);
  redco::workdir::checkpoint_store<recording_ops> second(ops, folder / "ckpts", "run-b");
  second.begin(4);
  ops.fail_on = "rename ckpts/.tmp-step_4-run-b";
  CHECK(ckpt_test::error_of([&] { second.commit(facts_of(4, "run-b")); }).code == redco::exit_code::io);
  second.discard(4);
  REQUIRE(std::filesystem::exists(folder / "ckpts/step_4/manifest.json"));
  CHECK(redco::workdir::read_manifest(folder / "ckpts/step_4").run == "run-a");
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "ckpts"), {}) == 1);
}

TEST_CASE("a run's later saves read no manifests of its checkpoints and delete old ones in the background") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  std::vector<std::filesystem::path> deleted;
  std::thread::id deleting;
  {
    redco::workdir::retention kept([&](std::filesystem::path const& path) {
      deleting = std::this_thread::get_id();
      CHECK(!std::filesystem::exists(folder / "ckpts/step_2"));
      std::filesystem::remove_all(path);
      deleted.push_back(path.filename());
    });
    redco::workdir::checkpoint_store<recording_ops> other(ops, folder / "ckpts", "run-b");
    save_empty(other, 1, "run-b");
    redco::workdir::checkpoint_store<recording_ops> earlier(ops, folder / "ckpts", "run-a");
    save_empty(earlier, 2);
    for (std::int64_t const step : {3, 4, 5, 6}) {
      // Each save has a store of its own, as in a run.
      redco::workdir::checkpoint_store<recording_ops> store(ops, folder / "ckpts", "run-a", &kept);
      save_empty(store, step);
      store.retain(2);
      // A manifest that is no longer readable is not read again.
      for (std::int64_t const seen : {1, 3, 4})
        if (std::filesystem::exists(folder / "ckpts" / ("step_" + std::to_string(seen))))
          ckpt_test::put(folder / "ckpts" / ("step_" + std::to_string(seen)) / "manifest.json", "damaged");
    }
    CHECK(kept.take_failure().empty());
  }
  CHECK(redco::workdir::checkpoint_names::steps_in(folder / "ckpts") == std::vector<std::int64_t>{6, 5, 1});
  CHECK(deleted ==
        std::vector<std::filesystem::path>{".trash-step_2-run-a", ".trash-step_3-run-a", ".trash-step_4-run-a"});
  CHECK(deleting != std::this_thread::get_id());
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "ckpts"), {}) == 3);
}

TEST_CASE("a checkpoint that cannot be deleted in the background is reported and delays no other") {
  temporary_folder const folder;
  redco::workdir::retention kept([](std::filesystem::path const& path) {
    if (path.filename() == "a") throw redco::error(redco::exit_code::io, "cannot remove a");
    std::filesystem::remove_all(path);
  });
  std::filesystem::create_directory(folder / "b");
  kept.remove_later(folder / "a");
  kept.remove_later(folder / "b");
  kept.wait();
  CHECK(!std::filesystem::exists(folder / "b"));
  CHECK(kept.take_failure() == "cannot remove a");
  CHECK(kept.take_failure().empty());
}

TEST_CASE("sweeping removes files of dead runs and repairs pointers that they did not set") {
  temporary_folder const folder;
  redco::workdir::workdir_lock const lock(folder.path);
  recording_ops ops(folder.path);
  redco::workdir::checkpoint_store<recording_ops> store(ops, folder / "ckpts", "run-a");
  save_empty(store, 4);
  store.point(4, {"min_loss"});
  save_empty(store, 6);
  store.begin(9);
  std::filesystem::create_directories(folder / "ckpts/.trash-step_1-run-b/x");
  std::filesystem::create_directories(folder / "ckpts/.corrupt-step_3");
  std::string const result = "eval_results_epoch0.json", of_dead = result + ".unfinished.0";
  std::string const of_this = result + ".unfinished." + std::to_string(::getpid()), of_user = "notes.unfinished.txt";
  for (std::string const& name : {result, of_dead, of_this, of_user}) std::ofstream(folder / name) << "x";
  store.sweep(lock);
  CHECK(!std::filesystem::exists(folder / of_dead));
  for (std::string const& name : {result, of_this, of_user}) CHECK(std::filesystem::exists(folder / name));
  redco::workdir::manifest newest = facts_of(6);
  newest.best = {{"min_loss", {0.5, 6}}, {"max_f1", {0.1, 5}}};
  newest.names = {"epoch_1"};
  CHECK((store.repair(newest) == std::map<std::string, redco::workdir::manifest::best_value>{{"min_loss", {0.5, 6}}}));
  CHECK(std::filesystem::read_symlink(folder / "ckpts/epoch_1") == "step_6");
  CHECK(!std::filesystem::exists(folder / "ckpts/.tmp-step_9-run-a"));
  CHECK(!std::filesystem::exists(folder / "ckpts/.trash-step_1-run-b"));
  CHECK(std::filesystem::exists(folder / "ckpts/.corrupt-step_3"));
  CHECK(ckpt_test::get(folder / "ckpts/last_ckpt.txt") == "step_6\n");
  CHECK(std::filesystem::read_symlink(folder / "ckpts/min_loss") == "step_6");
  CHECK(!std::filesystem::exists(std::filesystem::symlink_status(folder / "ckpts/max_f1")));
}

TEST_CASE("a manifest that gets its evaluation later is old or new after a failure at any call") {
  int calls = 1;
  for (int fail = 0; fail < calls; ++fail) {
    temporary_folder const folder;
    recording_ops ops(folder.path);
    redco::workdir::checkpoint_store<recording_ops> store(ops, folder / "ckpts", "run-a");
    redco::workdir::manifest old = facts_of(4);
    old.interrupted = true;
    old.names = {"epoch_0"};
    store.begin(4);
    store.commit(old);
    ops.log.clear();
    redco::workdir::manifest evaluated = facts_of(4);
    evaluated.best = {{"min_loss", {0.5, 4}}};
    evaluated.patience = {"min_loss", 2};
    ops.fail_at = fail;
    auto const amend = [&] { store.amend(evaluated, {"min_loss", "epoch_0"}); };
    CHECK(ckpt_test::error_of(amend).code == redco::exit_code::io);
    auto const failed = redco::workdir::read_manifest(folder / "ckpts/step_4");
    CHECK((failed == old || !failed.interrupted));
    ops.fail_at = -1;
    ops.log.clear();
    amend();
    calls = static_cast<int>(ops.log.size());
    auto const amended = redco::workdir::read_manifest(folder / "ckpts/step_4");
    CHECK(amended.best == evaluated.best);
    CHECK(amended.patience == evaluated.patience);
    CHECK_FALSE(amended.interrupted);
    CHECK(amended.names == std::vector<std::string>{"epoch_0", "min_loss"});
    CHECK(amended.run == "run-a");
  }
  CHECK(calls > 4);
}

TEST_CASE("a run or a pointer whose name is a path is refused") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  for (std::string const name : {"", "../x", "/x", "a/b", ".x", "step_3", "last_ckpt.txt"}) {
    CHECK(ckpt_test::error_of([&] {
            redco::workdir::checkpoint_store<recording_ops>(ops, folder / "ckpts", name);
          }).code == redco::exit_code::internal);
  }
}
