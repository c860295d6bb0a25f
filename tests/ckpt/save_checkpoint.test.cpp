#include "safetensors/support.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/repair_checkpoints.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include <redco/comm/thread_world.hpp>

#include "save_on.hpp"
#include "sharded_state.hpp"
#include "workdir/recording_ops.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using ckpt_test::recording_ops;
using ckpt_test::save_on;
using ckpt_test::saving;
using ckpt_test::sharded_state;

int wrong_on(redco::mesh const& mesh, redco::workdir::found_checkpoint const& found) {
  std::atomic<int> wrong = 0;
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto const parts = sharded_state(mesh, rank.rank, false);
    redco::ckpt::load_checkpoint(found, parts, rank.world);
    wrong += ckpt_test::wrong_parts(parts);
  });
  return wrong;
}

}  // namespace

TEST_CASE("saving writes every part from its own memory without a copy of the tensor") {
  temporary_folder const folder;
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    at::Tensor const flat = at::ones({3 * 512 * 512});
    std::vector<redco::ckpt::state_part> parts;
    for (std::int64_t i = 0; i < 3; ++i)
      parts.push_back({"p" + std::to_string(i),
                       {500, 512},
                       flat.narrow(0, i * 512 * 512, 512 * 512).view({512, 512}),
                       {{0, 0}, {500, 512}}});
    rank.memory->reset_peak();
    std::int64_t const before = rank.memory->current();
    redco::ckpt::save_checkpoint(saving(folder.path, {.dp = 1}, 1), parts, rank.world);
    CHECK(rank.memory->peak() - before < 64 * 1024);  // a part has 1 MiB
  });
}

TEST_CASE("a checkpoint of any mesh loads on any other, bit for bit") {
  std::vector<redco::mesh> const meshes{{.dp = 1}, {.dp = 2}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}, {.tp = 5}};
  for (auto const& from : meshes) {
    temporary_folder const folder;
    recording_ops ops(folder.path);
    save_on(from, saving(folder.path, from, 3), ops);
    auto const found = redco::workdir::find_checkpoint(folder.path, "auto");
    REQUIRE(found);
    CHECK(found->facts.mesh == from);
    CHECK(found->facts.tensors.at("wte.weight").shape == std::vector<std::int64_t>{7, 5});
    CHECK(found->facts.tensors.at("h.0.few").parts.size() == static_cast<std::size_t>(std::min(from.tp, 2)));
    for (auto const& to : meshes) {
      INFO("from " << from.dp << "x" << from.tp << " to " << to.dp << "x" << to.tp);
      CHECK(wrong_on(to, *found) == 0);
    }
  }
}

TEST_CASE("files are named by kind and writer") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  save_on({.dp = 2, .tp = 2}, saving(folder.path, {.dp = 2, .tp = 2}, 3), ops);
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder / "ckpts/step_3"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"manifest.json", "masters-0of2.safetensors", "masters-1of2.safetensors",
                                          "optimizer-0of2.safetensors", "optimizer-1of2.safetensors",
                                          "parameters-0of2.safetensors", "parameters-1of2.safetensors"});
}

TEST_CASE("every file is on the disk before the manifest is written") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  save_on({.tp = 2}, saving(folder.path, {.tp = 2}, 3), ops);
  auto const position = [&](std::string const& line) {
    return std::find(ops.log.begin(), ops.log.end(), line) - ops.log.begin();
  };
  std::string const tmp = "ckpts/.tmp-step_3-run-a/";
  for (std::string const name : {"parameters-0of2", "parameters-1of2", "optimizer-0of2", "masters-1of2"}) {
    CHECK(position("close " + tmp + name + ".safetensors") < position("create " + tmp + "manifest.json"));
    CHECK(position("sync " + tmp + name + ".safetensors") < position("close " + tmp + name + ".safetensors"));
  }
  CHECK(position("create ckpts/.tmp-last_ckpt.txt-run-a") > position("rename ckpts/.tmp-step_3-run-a ckpts/step_3"));
  CHECK(position("rename ckpts/.tmp-step_3-run-a ckpts/step_3") < static_cast<std::ptrdiff_t>(ops.log.size()));
}

TEST_CASE("short and interrupted writes give the same checkpoint") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  ops.most_per_write = 13;
  ops.interrupted = true;
  save_on({.tp = 2}, saving(folder.path, {.tp = 2}, 3), ops);
  CHECK(wrong_on({.dp = 1}, redco::workdir::find_checkpoint(folder.path, "auto").value()) == 0);
}

TEST_CASE("any failing call leaves the older checkpoint or the new one") {
  redco::mesh const mesh{.tp = 2};
  std::size_t calls = 0;
  {
    temporary_folder const folder;
    recording_ops ops(folder.path);
    save_on(mesh, saving(folder.path, mesh, 1), ops);
    ops.log.clear();
    save_on(mesh, saving(folder.path, mesh, 2), ops);
    calls = ops.log.size();
  }
  REQUIRE(calls > 40);
  for (bool const for_ever : {true, false}) {
    for (std::size_t call = 0; call < calls; ++call) {
      temporary_folder const folder;
      recording_ops ops(folder.path);
      save_on(mesh, saving(folder.path, mesh, 1), ops);
      ops.log.clear();
      ops.fail_at = static_cast<int>(call);
      ops.fail_for_ever = for_ever;
      auto const failure = ckpt_test::error_of([&] { save_on(mesh, saving(folder.path, mesh, 2), ops); });
      INFO("call " << call << ": " << failure.text);
      CHECK(failure.code == redco::exit_code::io);
      CHECK(ckpt_test::has(failure.text, folder.path.string()));
      redco::workdir::find_options options;
      std::string warnings;
      options.warn = [&](std::string const& text) { warnings += text; };
      auto const found = redco::workdir::find_checkpoint(folder.path, "auto", options);
      REQUIRE(found);
      CHECK(warnings.empty());
      CHECK((found->facts.step == 1 || found->facts.step == 2));
    }
  }
}

TEST_CASE("a run killed after any call of a save resumes with its best checkpoint and its epochs' checkpoints") {
  redco::mesh const mesh{.tp = 2};
  // Saves step 2 again, as an evaluation and then the end of its epoch do. The process is killed
  // after `calls` calls.
  auto const killed = [&](std::filesystem::path const& workdir, bool swaps, int calls) {
    recording_ops ops(workdir);
    ops.can_exchange = swaps;
    redco::workdir::save_options first = saving(workdir, mesh, 1);
    first.facts.best = {{"min_loss", {3, 1}}};
    first.pointers = {"min_loss"};
    save_on(mesh, first, ops);
    ops.log.clear();
    ops.fail_at = calls;
    redco::workdir::save_options second = saving(workdir, mesh, 2);
    second.facts.best = {{"min_loss", {2, 2}}};
    second.pointers = {"min_loss"};
    second.keep_last = 1;
    bool const died = ckpt_test::error_of([&] {
                        save_on(mesh, second, ops);
                        second.pointers = {"epoch_0"};
                        save_on(mesh, second, ops);
                      }).code != redco::exit_code::done;
    return died;
  };
  int windows = 0;
  for (bool const swaps : {true, false}) {
    for (int calls = 0;; ++calls) {
      temporary_folder const folder;
      bool const died = killed(folder.path, swaps, calls);
      INFO("killed after call " << calls << (swaps ? ", names can be swapped" : ""));
      redco::workdir::workdir_lock const lock(folder.path);
      redco::workdir::sweep_checkpoints(lock, "run-b");
      auto found = redco::workdir::find_checkpoint(folder.path, "auto").value();
      auto const ckpts = folder / "ckpts";
      auto const before = std::filesystem::read_symlink(ckpts / "min_loss");
      auto const best = redco::workdir::repair_checkpoints(lock, found);
      REQUIRE((best == found.facts.best));
      std::int64_t const step = best.at("min_loss").step;
      windows += before != "step_" + std::to_string(step);
      CHECK(step == found.facts.step);
      recording_ops ops(folder.path);
      for (std::int64_t const later : {3, 4, 5}) {
        redco::workdir::save_options next = saving(folder.path, mesh, later);
        next.facts.best = best;
        next.keep_last = 1;
        save_on(mesh, next, ops);
      }
      CHECK(redco::workdir::check_checkpoint(ckpts / "min_loss").step == step);
      for (std::string const& name : found.facts.names)
        CHECK(redco::workdir::check_checkpoint(ckpts / name).step == step);
      if (!died) break;
    }
  }
  CHECK(windows > 10);
}

TEST_CASE("a full disk is error 74 with path and bytes on every rank, and nothing unfinished remains") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  ops.fail_on = "write ckpts/.tmp-step_5-run-a/optimizer-1of2.safetensors";
  std::atomic<int> failed = 0;
  redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
    auto const parts = sharded_state({.tp = 2}, rank.rank, true);
    auto const failure = ckpt_test::error_of(
        [&] { redco::ckpt::save_checkpoint_with(ops, saving(folder.path, {.tp = 2}, 5), parts, rank.world); });
    failed += failure.code == redco::exit_code::io && ckpt_test::has(failure.text, "rank 1") &&
              ckpt_test::has(failure.text, "optimizer-1of2.safetensors") &&
              ckpt_test::has(failure.text, "after 0 bytes");
    // The group must still work, because training continues.
    rank.world.barrier();
    if (rank.rank == 0) ops.fail_on.clear();
    rank.world.barrier();
    redco::ckpt::save_checkpoint_with(ops, saving(folder.path, {.tp = 2}, 6), parts, rank.world);
  });
  CHECK(failed == 2);
  CHECK(!std::filesystem::exists(folder / "ckpts/.tmp-step_5-run-a"));
  CHECK(redco::workdir::find_checkpoint(folder.path, "auto").value().facts.step == 6);
}

TEST_CASE("a run that has lost its workdir to another host changes no checkpoint and ends with 64 on every rank") {
  redco::mesh const mesh{.tp = 2};
  for (std::string const when : {"before", "during"}) {
    temporary_folder const folder;
    recording_ops ops(folder.path);
    redco::workdir::workdir_lock const lock(folder.path);
    std::atomic<int> refused = 0;
    redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
      auto const parts = sharded_state(mesh, rank.rank, true);
      auto to = saving(folder.path, mesh, 1);
      if (rank.rank == 0) to.lock = &lock;
      redco::ckpt::save_checkpoint_with(ops, to, parts, rank.world);
      to.facts.step = 2;
      if (rank.rank == 0) {
        auto const take = [&] { ckpt_test::put(folder / ".lock", "process 7 on host other, start 1\n"); };
        if (when == "before") take();
        else
          ops.on_call = [take](std::string const& line) {
            if (line.starts_with("create ckpts/.tmp-step_2-run-a/parameters-0of2")) take();
          };
      }
      rank.world.barrier();
      auto const failure = ckpt_test::error_of([&] { redco::ckpt::save_checkpoint_with(ops, to, parts, rank.world); });
      refused += failure.code == redco::exit_code::usage && ckpt_test::has(failure.text, "process 7 on host other");
    });
    INFO(when << " the save");
    CHECK(refused == 2);
    CHECK(!std::filesystem::exists(folder / "ckpts/step_2"));
    CHECK(std::filesystem::exists(folder / "ckpts/.tmp-step_2-run-a") == (when == "during"));
    CHECK(ckpt_test::get(folder / "ckpts/last_ckpt.txt") == "step_1\n");
  }
}

TEST_CASE("owners that leave a gap or overlap are refused before any file gets its final name") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  for (bool const owner : {true, false}) {
    auto const failure = ckpt_test::error_of([&] {
      redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
        auto parts = sharded_state({.tp = 2}, rank.rank, true);
        parts[2].owner = owner;  // replicated: both ranks write it, or none
        redco::ckpt::save_checkpoint_with(ops, saving(folder.path, {.tp = 2}, 5), parts, rank.world);
      });
    });
    CHECK(failure.code == redco::exit_code::internal);
    CHECK(ckpt_test::has(failure.text, "h.0.ln.weight"));
    CHECK(!std::filesystem::exists(folder / "ckpts/step_5"));
  }
}

TEST_CASE("a checkpoint of another model is refused with the first twenty differences and their number") {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  save_on({.dp = 1}, saving(folder.path, {.dp = 1}, 3), ops);
  auto const found = redco::workdir::find_checkpoint(folder.path, "auto").value();
  auto const refusal = [&](auto change, redco::ckpt::load_options const& options = {}) {
    return ckpt_test::error_of([&] {
      redco::comm::run_ranks({.tp = 2}, {}, [&](redco::rank_context& rank) {
        auto parts = sharded_state({.tp = 2}, rank.rank, false);
        change(parts, rank.rank);
        redco::ckpt::load_checkpoint(found, parts, rank.world, options);
      });
    });
  };
  auto const many = refusal([](auto& parts, int) {
    for (int i = 0; i < 25; ++i)
      parts.push_back({"extra." + std::to_string(i), {2}, at::ones({2}), redco::safetensors::whole({2})});
    parts[1].shape = {6, 12};
    parts[2].local = parts[2].local.to(at::kDouble);
    parts.erase(parts.begin());
  });
  INFO(many.text);
  CHECK(many.code == redco::exit_code::data);
  CHECK(ckpt_test::has(many.text, "28 differences, the first 20"));
  CHECK(std::count(many.text.begin(), many.text.end(), '\n') >= 20);
  CHECK(std::count(many.text.begin(), many.text.end(), '\n') <= 23);
  CHECK(ckpt_test::has(refusal([](auto& parts, int) { parts.erase(parts.begin()); }).text,
                       "the model has no such tensor"));
  CHECK(refusal([](auto& parts, int rank) {
          if (rank == 1) parts.erase(parts.begin());
        }).code == redco::exit_code::done);
  CHECK(ckpt_test::has(refusal([](auto& parts, int) { parts[2].local = parts[2].local.to(at::kDouble); }).text, "F64"));
  auto const parameters_only = [](auto& parts, int) { parts.resize(6); };
  CHECK(refusal(parameters_only).code == redco::exit_code::data);
  CHECK(refusal(parameters_only, {.unread = {"optimizer.", "master."}}).code == redco::exit_code::done);
}

TEST_CASE("strided and foreign-typed local tensors are saved and filled by value") {
  temporary_folder const folder;
  at::Tensor const values = at::arange(12, at::kFloat).reshape({3, 4});
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    std::vector<redco::ckpt::state_part> parts{{"t", {4, 3}, values.t(), redco::safetensors::whole({4, 3})}};
    redco::ckpt::save_checkpoint(saving(folder.path, {.dp = 1}, 1), parts, rank.world);
    parts[0].local = at::zeros({3, 4}).t();
    auto const found = redco::ckpt::find_checkpoint(rank.world, folder.path, "auto");
    redco::ckpt::load_checkpoint(found.value(), parts, rank.world);
    CHECK(parts[0].local.equal(values.t()));
  });
}
