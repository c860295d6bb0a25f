#pragma once

#include <redco/comm/ranks.hpp>

#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_groups.hpp>
#include <redco/tensor/kept_memory.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/tensor/rank_environment.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/words_of.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// Calls `body`; whatever it throws becomes the failure of `rank`, unless another came first.
inline void run_rank(lifeline& line, int rank, std::function<void()> const& body) noexcept {
  try {
    body();
  } catch (error const& failure) {
    line.fail(rank, failure);
  } catch (std::exception const& failure) {
    line.fail(rank, exit_code::internal, words_of(failure));
  } catch (...) {
    line.fail(rank, exit_code::internal, "threw something that is not a std::exception");
  }
  line.end(rank);
}

/// How many rank threads still run, and the wait for the last.
class rank_roll {
 public:
  explicit rank_roll(int ranks) : ended_(static_cast<std::size_t>(ranks)) {}

  void sign_off(int rank) {
    std::lock_guard const lock(mutex_);
    ended_[static_cast<std::size_t>(rank)] = true;
    bell_.notify_all();
  }

  /// Returns when the first `started` ranks have ended. A rank that has not, `grace` after the first failure, cannot be
  /// stopped and still uses the caller's data: the only end that cannot hang is that of the process.
  void wait(lifeline const& line, int started, std::chrono::milliseconds grace) {
    std::unique_lock lock(mutex_);
    auto const all = [&] {
      return std::all_of(ended_.begin(), ended_.begin() + started, [](bool ended) { return ended; });
    };
    auto last = std::chrono::steady_clock::time_point::max();
    while (!bell_.wait_for(lock, std::chrono::milliseconds(50), all)) {
      auto const now = std::chrono::steady_clock::now();
      if (line.failed() && last == std::chrono::steady_clock::time_point::max()) last = now + grace;
      if (now < last) continue;
      std::string text = std::string(line.cause().what()) + "\n";
      for (int rank = 0; rank < started; ++rank) {
        if (!ended_[static_cast<std::size_t>(rank)]) text += "rank " + std::to_string(rank) + " does not end: killed\n";
      }
      std::fputs(text.c_str(), stderr);
      std::_Exit(static_cast<int>(line.cause().code()));
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable bell_;
  std::vector<bool> ended_;
};

REDCO_INLINE void run_on_ranks(mesh const& shape, rank_options const& options, function_ref<void(rank_context&)> f) {
  for (axis const a : all_axes)
    if (shape[a] < 1)
      throw error(exit_code::usage, "a mesh of " + options::to_text(shape) + " has no ranks; give numbers from 1 on");
  kept_memory::install();
  int const ranks = shape.ranks();
  int const threads_before = at::get_num_threads();
  int const threads = options.threads > 0 ? options.threads : std::max(1, threads_before / ranks);
  auto const line = std::make_shared<lifeline>(ranks);
  rank_groups groups(shape, line, options.first_deadline);
  rank_roll roll(ranks);
  auto const body = [&](int rank) {
    auto const memory = std::make_shared<memory_counter>();
    rank_environment const environment("rank " + std::to_string(rank), threads, memory);
    rank_context context(rank, shape, groups, memory, options.deadline);
    f(context);
  };
  std::vector<std::thread> running;
  try {
    for (int rank = 0; rank < ranks; ++rank) {
      running.emplace_back([&, rank] {
        run_rank(*line, rank, [&] { body(rank); });
        roll.sign_off(rank);
      });
    }
  } catch (std::exception const& failure) {
    line->fail(static_cast<int>(running.size()), exit_code::internal,
               std::string("its thread cannot be started: ") + failure.what());
  }
  roll.wait(*line, static_cast<int>(running.size()), options.grace);
  for (std::thread& one : running) one.join();
  at::set_num_threads(threads_before);
  if (line->failed()) throw line->cause();
}

}  // namespace redco::comm::detail
