#pragma once

#include <redco/comm/thread_world.hpp>

#include <redco/comm/detail/run_rank.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/tensor/kept_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace redco::comm {

/// The threads, what they work on, and who is still at it.
struct thread_world::crew {
  crew(mesh const& m, rank_options const& o) : shape(m), options(o), busy(static_cast<std::size_t>(m.ranks())) {}

  void begin();
  void start_threads();
  void work(int rank);
  void wait();
  void dismiss();

  mesh shape;
  rank_options options;
  std::shared_ptr<lifeline> line;
  std::optional<rank_groups> groups;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable bell;
  detail::run_setup const* now = nullptr;  ///< what is run; set anew for each run
  std::uint64_t runs = 0;
  std::vector<bool> busy;
  bool over = false;
};

REDCO_INLINE thread_world::thread_world(mesh const& shape, rank_options const& options) {
  for (axis const a : all_axes)
    if (shape[a] < 1)
      throw error(exit_code::usage, "a mesh of " + options::to_text(shape) + " has no ranks; give numbers from 1 on");
  kept_memory::install();
  crew_ = std::make_unique<crew>(shape, options);
}

REDCO_INLINE thread_world::~thread_world() { crew_->dismiss(); }

REDCO_INLINE void thread_world::run(function_ref<void(rank_context&)> f) {
  crew_->begin();
  int const threads_before = at::get_num_threads();
  int const asked = crew_->options.threads;
  int const each = asked > 0 ? asked : std::max(1, threads_before / crew_->shape.ranks());
  detail::run_setup const setup{*crew_->line, *crew_->groups, each, crew_->options.deadline, f};
  {
    std::lock_guard const lock(crew_->mutex);
    crew_->now = &setup;
    crew_->busy.assign(crew_->busy.size(), true);
    ++crew_->runs;
  }
  crew_->bell.notify_all();
  crew_->wait();
  at::set_num_threads(threads_before);
  if (crew_->line->failed()) throw crew_->line->cause();
}

/// Groups as on the first run, and threads that wait for work.
REDCO_INLINE void thread_world::crew::begin() {
  if (!line || line->failed()) {
    groups.reset();
    line = std::make_shared<lifeline>(shape.ranks());
    groups.emplace(shape, [this](std::string const& name, int, std::vector<int> const& members) {
      return in_process_group::make(name, members, line);
    });
  }
  line->begin();
  groups->begin_run(options.first_deadline);
  if (threads.empty()) start_threads();
}

REDCO_INLINE void thread_world::crew::start_threads() {
  try {
    for (int rank = 0; rank < shape.ranks(); ++rank) threads.emplace_back([this, rank] { work(rank); });
  } catch (std::exception const& failure) {
    auto const rank = static_cast<int>(threads.size());
    dismiss();
    throw error(exit_code::internal, rank, std::string("its thread cannot be started: ") + failure.what());
  }
}

/// A rank's thread: one run after the other.
REDCO_INLINE void thread_world::crew::work(int rank) {
  auto const me = static_cast<std::size_t>(rank);
  std::unique_lock lock(mutex);
  for (std::uint64_t done = 0;; ++done) {
    bell.wait(lock, [&] { return over || runs > done; });
    if (over) return;
    detail::run_setup const& setup = *now;
    lock.unlock();
    detail::run_rank(setup, rank);
    lock.lock();
    busy[me] = false;
    bell.notify_all();
  }
}

/// Returns when all ranks have ended; those that have not, `grace` after the first failure, end the process.
REDCO_INLINE void thread_world::crew::wait() {
  std::unique_lock lock(mutex);
  auto const all = [&] { return std::find(busy.begin(), busy.end(), true) == busy.end(); };
  auto last = std::chrono::steady_clock::time_point::max();
  while (!bell.wait_for(lock, std::chrono::milliseconds(50), all)) {
    auto const now_is = std::chrono::steady_clock::now();
    if (line->failed() && last == std::chrono::steady_clock::time_point::max()) last = now_is + options.grace;
    if (now_is < last) continue;
    std::vector<int> stuck;
    for (int rank = 0; rank < shape.ranks(); ++rank)
      if (busy[static_cast<std::size_t>(rank)]) stuck.push_back(rank);
    detail::kill_process(*line, stuck);
  }
}

REDCO_INLINE void thread_world::crew::dismiss() {
  {
    std::lock_guard const lock(mutex);
    over = true;
  }
  bell.notify_all();
  for (std::thread& one : threads) one.join();
}

}  // namespace redco::comm
