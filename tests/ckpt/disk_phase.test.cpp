#include "safetensors/support.hpp"
#include "torch_catch.hpp"

#include <redco/ckpt/detail/checked_files.hpp>
#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/ckpt/write_on_first.hpp>
#include <redco/workdir/disk_limits.hpp>

#include <redco/comm/thread_world.hpp>

#include "save_on.hpp"
#include "sharded_state.hpp"
#include "workdir/recording_ops.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using ckpt_test::recording_ops;
using ckpt_test::saving;
using ckpt_test::sharded_state;
using redco::ckpt::detail::disk_phase;
using redco::ckpt::detail::files_to_hash;
using redco::ckpt::detail::progress_text;

std::uint64_t gathers(redco::comm::group const& world) {
  return static_cast<std::uint64_t>(world.counters()[redco::shape::collective::all_gather].calls);
}

/// Returns the numbers of all_gathers of rank 0 in a save and in a load. With `all` true, ranks
/// report their progress after every piece.
std::vector<std::uint64_t> gathers_of_save_and_load(bool all) {
  temporary_folder const folder;
  recording_ops ops(folder.path);
  redco::mesh const mesh{.tp = 2};
  redco::workdir::disk_limits const limits{.deadline = 600s, .between = all ? 0ms : 600'000ms};
  std::vector<std::uint64_t> counts;
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto const parts = sharded_state(mesh, rank.rank, true);
    auto to = saving(folder.path, mesh, 3);
    to.disk = limits;
    auto const count = [&](auto work) {
      std::uint64_t const before = gathers(rank.world);
      work();
      if (rank.rank == 0) counts.push_back(gathers(rank.world) - before);
    };
    count([&] { redco::ckpt::save_checkpoint_with(ops, to, parts, rank.world); });
    redco::workdir::found_checkpoint found;
    count([&] { found = redco::ckpt::find_checkpoint(rank.world, folder.path, "auto", {}, parts, limits).value(); });
    count([&] { redco::ckpt::load_checkpoint(found, parts, rank.world, {.unread = {}, .disk = limits}); });
  });
  return counts;
}

}  // namespace

TEST_CASE("progress is written with the unit of the whole") {
  CHECK(progress_text(3'100'000'000, 84'000'000'000) == "3.1 of 84 GB");
  CHECK(progress_text(0, 1'900'000'000'000) == "0.0 of 1.9 TB");
  CHECK(progress_text(12'400'000, 84'000'000) == "12 of 84 MB");
  CHECK(progress_text(12, 999) == "12 of 999 bytes");
  CHECK(progress_text(0, 0) == "0 of 0 bytes");
}

TEST_CASE("ranks with different numbers of pieces end a phase together, also if the work of one fails") {
  for (bool const fails : {false, true}) {
    std::atomic<int> right = 0;
    redco::comm::run_ranks({.dp = 3}, {}, [&](redco::rank_context& rank) {
      auto const result = redco::ckpt::detail::attempt_on_disk(
          rank.world, "saving step 4", 100, {.deadline = 600s, .between = 0ms}, [&](disk_phase& phase) {
            for (int piece = 0; piece < 7 * rank.rank; ++piece) {
              phase.add(10);
              if (fails && rank.rank == 1 && piece == 2) throw redco::error(redco::exit_code::io, "full");
            }
            return std::to_string(rank.rank);
          });
      bool const shared = fails ? result.failure && result.failure->code() == redco::exit_code::io
                                : result.texts == std::vector<std::string>{"0", "1", "2"};
      right += shared && gathers(rank.world) >= 14;
    });
    CHECK(right == 3);
  }
}

TEST_CASE("ranks wait for a slow disk longer than for other work") {
  std::atomic<int> right = 0;
  redco::comm::run_ranks({.dp = 2}, {}, [&](redco::rank_context& rank) {
    rank.world.barrier();
    auto const before = rank.world.deadline();
    rank.world.set_deadline(50ms);
    {
      disk_phase phase(rank.world, "saving step 4", 3, {.deadline = 600s, .between = 0ms});
      for (int piece = 0; rank.rank == 1 && piece < 3; ++piece) {
        std::this_thread::sleep_for(150ms);
        phase.add(1);
      }
      phase.finish();
    }
    right += rank.world.deadline() == 50ms;
    rank.world.set_deadline(before);
  });
  CHECK(right == 2);
}

TEST_CASE("a rank whose disk does nothing until the deadline is named with its task and its progress") {
  for (bool const reports : {true, false}) {
    std::atomic<bool> over = false;
    auto const failure = ckpt_test::error_of([&] {
      redco::comm::run_ranks({.dp = 2}, {}, [&](redco::rank_context& rank) {
        disk_phase phase(rank.world, "saving step 400", rank.rank == 1 ? 84'000'000'000 : 0,
                         {.deadline = 300ms, .between = reports ? 0ms : 600'000ms});
        phase.add(rank.rank == 1 ? 3'100'000'000 : 0);
        rank.world.set_deadline(300ms);
        if (rank.rank == 0) {
          try {
            phase.finish();
          } catch (redco::error const&) {
            over = true;
            throw;
          }
        }
        while (!over) std::this_thread::sleep_for(1ms);  // the disk does nothing
        phase.finish();
      });
    });
    CHECK(failure.code == redco::exit_code::peer_lost);
    // Before the first report, ranks do not know the progress of others.
    CHECK(ckpt_test::has(failure.text, reports ? "saving step 400: 3.1 of 84 GB, rank 1" : "saving step 400; "));
    CHECK(ckpt_test::has(failure.text, "--disk-deadline limits the time without progress"));
  }
}

TEST_CASE("every piece of a checkpoint that ranks write, check and read counts as progress") {
  auto const some = gathers_of_save_and_load(false), all = gathers_of_save_and_load(true);
  REQUIRE(some.size() == 3);
  for (std::size_t i = 0; i < some.size(); ++i) {
    INFO((i == 0 ? "save" : i == 1 ? "check" : "load") << ": " << some[i] << " and " << all[i]);
    CHECK(all[i] >= some[i] + 3);
  }
}

TEST_CASE("each host hashes the files that its ranks read, each file once") {
  std::map<std::string, redco::workdir::manifest::file_facts> const files{
      {"a", {100, 0}}, {"b", {60, 0}}, {"c", {50, 0}}, {"d", {10, 0}}};
  using lists = std::vector<std::vector<std::string>>;
  CHECK(files_to_hash(files, {"n1\na\nb\nc\nd\n"}) == lists{{"a", "b", "c", "d"}});
  CHECK(files_to_hash(files, {"n1\na\nb\nc\nd\n", "n1\na\nb\nc\nd\n"}) == lists{{"a", "d"}, {"b", "c"}});
  // "d" is read by no rank; rank 2 does not see the checkpoint.
  CHECK(files_to_hash(files, {"n1\na\n", "n2\na\nb\nc\n", "", "n2\nc\n"}) == lists{{"a", "d"}, {"a"}, {}, {"b", "c"}});
  CHECK(files_to_hash(files, {"n1\n", "n2\n"}) == lists{{"a", "d"}, {"b", "c"}});
}

TEST_CASE("a damaged file is found by the rank that reads it, and an older checkpoint is taken") {
  redco::mesh const mesh{.tp = 2};
  temporary_folder const folder;
  recording_ops ops(folder.path);
  ckpt_test::save_on(mesh, saving(folder.path, mesh, 3), ops);
  ckpt_test::save_on(mesh, saving(folder.path, mesh, 4), ops);
  auto const file = folder / "ckpts/step_4/parameters-1of2.safetensors";
  std::string bytes = ckpt_test::get(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ckpt_test::put(file, bytes);
  auto const find = [&](std::string const& resume, std::string* warnings) {
    std::atomic<std::int64_t> steps = 0;
    redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
      redco::workdir::find_options options;
      options.warn = [warnings](std::string const& text) { *warnings += text + "\n"; };
      auto const parts = sharded_state(mesh, rank.rank, false);
      steps += redco::ckpt::find_checkpoint(rank.world, folder.path, resume, options, parts).value().facts.step;
    });
    return steps.load();
  };
  std::string warnings;
  auto const refused = ckpt_test::error_of([&] { find((folder / "ckpts/step_4").string(), &warnings); });
  CHECK(refused.code == redco::exit_code::data);
  CHECK(ckpt_test::has(refused.text, "rank 1"));
  CHECK(ckpt_test::has(refused.text, "parameters-1of2.safetensors is damaged: its XXH64"));
  CHECK(find("auto", &warnings) == 6);
  CHECK(ckpt_test::has(warnings, "parameters-1of2.safetensors is damaged"));
  CHECK(ckpt_test::has(warnings, "falling back to"));
  CHECK(std::filesystem::exists(folder / "ckpts/.corrupt-step_4"));
}

TEST_CASE("ranks wait for the file that rank 0 alone writes until the deadline of disks") {
  std::atomic<int> right = 0;
  redco::comm::run_ranks({.dp = 2}, {}, [&](redco::rank_context& rank) {
    auto const before = rank.world.deadline();
    rank.world.set_deadline(50ms);
    int written = 0;
    redco::ckpt::write_on_first(rank.world, "writing a page", {.deadline = 600s}, [&] {
      std::this_thread::sleep_for(150ms);
      ++written;
    });
    right += rank.world.deadline() == 50ms && written == (rank.rank == 0 ? 1 : 0);
    rank.world.set_deadline(before);
  });
  CHECK(right == 2);
}

TEST_CASE("a file that rank 0 does not write until the deadline of disks is named") {
  std::atomic<bool> over = false;
  auto const failure = ckpt_test::error_of([&] {
    redco::comm::run_ranks({.dp = 2}, {}, [&](redco::rank_context& rank) {
      rank.world.set_deadline(50ms);
      try {
        redco::ckpt::write_on_first(rank.world, "writing a page", {.deadline = 300ms}, [&] {
          while (!over) std::this_thread::sleep_for(1ms);  // the disk does nothing
        });
      } catch (redco::error const&) {
        over = true;
        throw;
      }
    });
  });
  CHECK(failure.code == redco::exit_code::peer_lost);
  CHECK(ckpt_test::has(failure.text, "writing a page; --disk-deadline limits the wait for rank 0"));
}
