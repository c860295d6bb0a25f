#include "safetensors/support.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/workdir/checkpoint_store.hpp>
#include <redco/workdir/read_manifest.hpp>

#include <redco/comm/thread_world.hpp>

#include "save_on.hpp"
#include "sharded_state.hpp"
#include "workdir/recording_ops.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using ckpt_test::recording_ops;
using ckpt_test::save_on;
using ckpt_test::saving;
using ckpt_test::sharded_state;

/// Returns save options as on hosts without a common folder: all ranks but the first have another
/// workdir.
redco::workdir::save_options saving_on_hosts(temporary_folder const& folder, int rank, redco::mesh const& mesh,
                                             std::int64_t step) {
  return saving(folder / (rank == 0 ? "first" : "other"), mesh, step);
}

void save_on_hosts(temporary_folder const& folder, redco::mesh const& mesh, std::int64_t step, recording_ops& ops) {
  std::filesystem::create_directories(folder / "first");
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto const parts = sharded_state(mesh, rank.rank, true);
    redco::ckpt::save_checkpoint_with(ops, saving_on_hosts(folder, rank.rank, mesh, step), parts, rank.world);
  });
}

int wrong_on_hosts(redco::mesh const& mesh, temporary_folder const& folder) {
  std::atomic<int> wrong = 0;
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto const parts = sharded_state(mesh, rank.rank, false);
    auto found = redco::ckpt::find_checkpoint(rank.world, folder / "first", "auto").value();
    if (rank.rank > 0) found.directory = folder / "other/ckpts" / found.directory.filename();
    redco::ckpt::load_checkpoint(found, parts, rank.world);
    wrong += ckpt_test::wrong_parts(parts);
  });
  return wrong;
}

}  // namespace

TEST_CASE("rank 0 writes and reads for ranks whose host does not see the folder, on any mesh") {
  std::vector<redco::mesh> const meshes{{.dp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}, {.tp = 5}};
  for (auto const& from : meshes) {
    temporary_folder const here, hosts;
    recording_ops ops(here.path), ops_of_hosts(hosts.path);
    save_on(from, saving(here.path, from, 3), ops);
    save_on_hosts(hosts, from, 3, ops_of_hosts);
    CHECK(!std::filesystem::exists(hosts / "other"));
    CHECK(redco::workdir::check_checkpoint(hosts / "first/ckpts/step_3") ==
          redco::workdir::check_checkpoint(here / "ckpts/step_3"));
    for (auto const& to : meshes) {
      INFO("from " << from.dp << "x" << from.tp << " to " << to.dp << "x" << to.tp);
      CHECK(wrong_on_hosts(to, hosts) == 0);
    }
  }
}

TEST_CASE("a folder that an earlier save has left on another host's disk is not taken for the shared folder") {
  redco::mesh const mesh{.tp = 2};
  temporary_folder const folder;
  recording_ops ops(folder.path);
  // The leftovers of saves that were killed: with the token of such a save, and of an older version
  // without tokens.
  std::filesystem::create_directories(folder / "other");
  redco::workdir::checkpoint_store<recording_ops>(ops, folder / "other/ckpts", "run-a").begin(3);
  std::filesystem::create_directories(folder / "other/ckpts/.tmp-step_4-run-a");
  for (std::int64_t const step : {3, 4}) {
    save_on_hosts(folder, mesh, step, ops);
    CHECK(redco::workdir::check_checkpoint(folder / "first/ckpts" / ("step_" + std::to_string(step))).step == step);
  }
  CHECK(wrong_on_hosts(mesh, folder) == 0);
}

TEST_CASE("rank 0 writes and reads tensors of many megabytes for others") {
  temporary_folder const folder;
  std::filesystem::create_directories(folder / "first");
  redco::mesh const mesh{.dp = 2};
  std::vector<std::int64_t> const shape{5'000'003};
  std::atomic<int> wrong = 0;
  at::Tensor const values = at::arange(shape[0], at::kFloat);
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto const part = [&](at::Tensor const& local) {
      return redco::ckpt::state_part{"large", shape, local, {{0}, shape}, rank.rank == 1};
    };
    std::vector<redco::ckpt::state_part> const saved{part(values.clone())};
    redco::ckpt::save_checkpoint(saving_on_hosts(folder, rank.rank, mesh, 1), saved, rank.world);
    auto found = redco::ckpt::find_checkpoint(rank.world, folder / "first", "auto").value();
    if (rank.rank == 1) found.directory = folder / "other";
    at::Tensor const loaded = at::zeros(shape);
    redco::ckpt::load_checkpoint(found, std::vector<redco::ckpt::state_part>{part(loaded)}, rank.world);
    wrong += at::equal(loaded, values) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

TEST_CASE("files of another run on another host are not read") {
  redco::mesh const mesh{.tp = 2};
  temporary_folder const folder;
  recording_ops ops(folder.path);
  save_on_hosts(folder, mesh, 3, ops);
  auto old = saving(folder / "other", mesh, 3);
  old.facts.run = "run-b";
  std::filesystem::create_directories(folder / "other");
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    redco::ckpt::save_checkpoint_with(ops, old, sharded_state(mesh, rank.rank, false), rank.world);
  });
  CHECK(wrong_on_hosts(mesh, folder) == 0);
}

TEST_CASE("a call that fails while rank 0 writes for others leaves the older checkpoint or the new one") {
  redco::mesh const mesh{.tp = 3};
  std::size_t calls = 1;
  for (std::size_t call = 0; call < calls; ++call) {
    temporary_folder const folder;
    recording_ops ops(folder.path);
    save_on_hosts(folder, mesh, 1, ops);
    ops.log.clear();
    ops.fail_at = static_cast<int>(call);
    auto const failure = ckpt_test::error_of([&] { save_on_hosts(folder, mesh, 2, ops); });
    INFO("call " << call << ": " << failure.text);
    CHECK(failure.code == redco::exit_code::io);
    CHECK(wrong_on_hosts(mesh, folder) == 0);
    if (call > 0) continue;
    ops.log.clear();
    ops.fail_at = -1;
    save_on_hosts(folder, mesh, 2, ops);
    calls = ops.log.size();
    REQUIRE(calls > 40);
  }
}

TEST_CASE("a read that fails on rank 0 for another rank ends all ranks with the cause") {
  redco::mesh const mesh{.tp = 2};
  temporary_folder const folder;
  recording_ops ops(folder.path);
  save_on_hosts(folder, mesh, 3, ops);
  auto const failure = ckpt_test::error_of([&] {
    redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
      auto found = redco::ckpt::find_checkpoint(rank.world, folder / "first", "auto").value();
      if (rank.rank == 0)
        for (auto const& file : std::filesystem::directory_iterator(found.directory))
          if (file.path().filename().string().find("-1of2") != std::string::npos)
            std::filesystem::resize_file(file.path(), 8);
      rank.world.barrier();
      if (rank.rank > 0) found.directory = folder / "other/ckpts" / found.directory.filename();
      redco::ckpt::load_checkpoint(found, sharded_state(mesh, rank.rank, false), rank.world);
    });
  });
  CHECK(failure.code == redco::exit_code::data);
  CHECK(failure.text.find("-1of2") != std::string::npos);
}

TEST_CASE("a run whose checkpoints only another host has does not start from scratch") {
  redco::mesh const mesh{.dp = 2};
  temporary_folder const folder;
  recording_ops ops(folder.path);
  save_on(mesh, saving(folder.path, mesh, 3), ops);
  std::atomic<bool> found = true;
  auto const find = [&](std::string const& resume) {
    redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
      std::filesystem::path const workdir = rank.rank == 0 ? folder / "empty" : folder.path;
      found = redco::ckpt::find_checkpoint(rank.world, workdir, resume).has_value();
    });
  };
  find("none");
  CHECK(!found);
  auto const failure = ckpt_test::error_of([&] { find("auto"); });
  CHECK(failure.code == redco::exit_code::data);
  CHECK(
      ckpt_test::has(failure.text, ", where rank 0 looks, but one, where rank 1 looks: start the first process there"));
}
