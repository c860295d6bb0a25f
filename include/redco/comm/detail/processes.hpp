#pragma once

#include <redco/comm/detail/call_words.hpp>
#include <redco/comm/detail/process_group.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/run_rank.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_groups.hpp>
#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>
#include <redco/tensor/kept_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/mesh_text.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace redco::comm::detail {

/// How many threads each of the processes on this host may use: its own cores where it is bound to some, else its share of all.
inline int threads_of_process() {
  cpu_set_t own;
  CPU_ZERO(&own);
  long const all = sysconf(_SC_NPROCESSORS_ONLN);
  long const mine = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : all;
  return static_cast<int>(std::max(1L, mine < all ? mine : all / options::launched().here));
}

/// The processes of a launcher as a world. The rank of this process runs on a thread of its own; the caller's thread listens
/// to the others meanwhile.
class processes final : public world {
 public:
  processes(mesh const& shape, rank_options const& options, process_session& session)
      : shape_(shape), options_(options), session_(session) {
    if (session_.size() != shape.ranks())
      throw error(exit_code::usage, "a mesh of " + options::to_text(shape) + " on " + std::to_string(session_.size()) +
                                        " processes: start one for each rank");
    kept_memory::install();
  }

  void run(function_ref<void(rank_context&)> f) override {
    begin();
    int const threads_before = at::get_num_threads();
    int const each = options_.threads > 0 ? options_.threads : std::min(threads_before, threads_of_process());
    run_setup const setup{*line_, *groups_, each, options_.deadline, f};
    bool done = false;
    std::mutex mutex;
    std::condition_variable bell;
    std::thread rank([&] {
      run_rank(setup, session_.rank());
      std::lock_guard const lock(mutex);
      done = true;
      bell.notify_all();
    });
    {
      std::unique_lock lock(mutex);
      while (!bell.wait_for(lock, std::chrono::milliseconds(5), [&] { return done; })) {
        lock.unlock();
        listen();
        lock.lock();
        end_if_stuck();
      }
    }
    rank.join();
    at::set_num_threads(threads_before);
    await_others();
    if (!failures_.empty()) throw cause();
  }

 private:
  using clock = std::chrono::steady_clock;

  void begin() {
    ++runs_;
    failures_.clear();
    failed_at_.reset();
    told_ = false;
    if (!line_ || line_->failed()) {
      groups_.reset();
      line_ = std::make_shared<lifeline>(shape_.ranks());
      groups_.emplace(
          shape_,
          [this](std::string const& name, int number, std::vector<int> const& members) {
            std::vector<std::unique_ptr<group>> handles(members.size());
            auto const me = std::find(members.begin(), members.end(), session_.rank());
            if (me != members.end())
              handles[static_cast<std::size_t>(me - members.begin())] =
                  std::make_unique<process_group>(name, number, members, session_, line_, runs_);
            return handles;
          },
          session_.rank());
    }
    line_->begin();
    groups_->begin_run(options_.first_deadline);
  }

  /// Takes in what others tell, and tells them of a failure here.
  void listen() {
    for (process_notice& one : session_.heard()) early_.push_back(std::move(one));
    std::vector<process_notice> later;
    for (process_notice& one : early_) {
      if (one.run > runs_) {
        later.push_back(std::move(one));
      } else if (one.run == runs_) {
        if (one.ended) line_->end(one.from);
        else hear(one);
      }
    }
    early_ = std::move(later);
    for (process_notice one : session_.gone()) {
      if (line_->ended(one.from)) continue;
      one.run = runs_;
      hear(one);
      line_->end(one.from);
    }
    if (!line_->failed() || told_) return;
    told_ = true;
    error const own = line_->cause();
    session_.announce({runs_, session_.rank(), false, own.code(), own.what()});
    hear({runs_, session_.rank(), false, own.code(), own.what()});
  }

  /// A failure of its own that a process tells. What comes here first ends this process's waits, and is no failure of its own.
  void hear(process_notice const& one) {
    failures_.push_back(one);
    if (!failed_at_) failed_at_ = clock::now();
    if (one.from != session_.rank() && line_->fail(one.from, error::told(one.code, one.text))) told_ = true;
  }

  void end_if_stuck() const {
    if (failed_at_ && clock::now() > *failed_at_ + options_.grace) kill_process(*line_, {session_.rank()});
  }

  /// Until all ranks have ended, so that the next run begins where all are. Who does not come when a run has failed is given up.
  void await_others() {
    listen();
    session_.announce({runs_, session_.rank(), true});
    auto const limit = std::max(options_.first_deadline, options_.deadline);
    auto const end = clock::now() + limit;
    while (true) {
      listen();
      std::vector<int> late;
      for (int rank = 0; rank < shape_.ranks(); ++rank)
        if (!line_->ended(rank)) late.push_back(rank);
      if (late.empty()) return;
      if (failed_at_ && clock::now() > *failed_at_ + 2 * options_.grace) return;
      if (!failed_at_ && clock::now() > end) miss_peers(*line_, session_.rank(), "at the end of the run", late, limit);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// What all processes throw: a rank that failed by itself comes before those that missed it. One of them tells it.
  error cause() const {
    auto const worse = [](process_notice const& a, process_notice const& b) {
      auto const key = [](process_notice const& n) { return std::pair(n.code == exit_code::peer_lost, n.from); };
      return key(a) < key(b);
    };
    process_notice const& first = *std::min_element(failures_.begin(), failures_.end(), worse);
    error const made = error::told(first.code, first.text);
    return session_.rank() == speaker() ? made : made.told_elsewhere();
  }

  /// The first process that is still there.
  int speaker() const {
    std::vector<process_notice> const gone = session_.gone();
    int first = 0;
    while (std::any_of(gone.begin(), gone.end(), [&](process_notice const& one) { return one.from == first; })) ++first;
    return first;
  }

  inline static std::uint64_t runs_ = 0;  ///< of all worlds of this process

  mesh shape_;
  rank_options options_;
  process_session& session_;
  std::shared_ptr<lifeline> line_;
  std::optional<rank_groups> groups_;
  std::vector<process_notice> early_;     ///< of runs to come
  std::vector<process_notice> failures_;  ///< of this run, one of a process at most
  std::optional<clock::time_point> failed_at_;
  bool told_ = false;  ///< the others know, or told it
};

}  // namespace redco::comm::detail
