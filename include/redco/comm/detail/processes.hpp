#pragma once

#include <redco/comm/detail/launcher_signal.hpp>
#include <redco/comm/detail/nccl_group.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/process_group.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/rank_threads.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/comm/world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/options/cpu_quota.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/value_text.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace redco::comm::detail {

/// Returns the number of threads that this process may use.
inline int threads_of_process() {
  cpu_set_t own;
  CPU_ZERO(&own);
  long const all = sysconf(_SC_NPROCESSORS_ONLN);
  long const mine = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : all;
  return static_cast<int>(
      options::threads_within(mine, all, options::launched().processes_on_host, options::cpu_quota()));
}

/// A world of the processes that a launcher started. Each process has the same number of
/// neighbouring ranks, each on its own thread. During a run, the thread that called run() receives
/// notices (messages about failures and ended ranks) from the other processes.
class processes final : public world {
 public:
  processes(mesh const& shape, rank_options const& options, process_session& session)
      : shape_(shape),
        options_(options),
        session_(session),
        tags_(session, checked(shape, session), runs_),
        threads_(session.rank() * tags_.per_process(), tags_.per_process()) {
    rank_hosts::all().ranks_each = tags_.per_process();
    tensors::kept_memory::install();
  }

  void run(tensors::function_ref<void(rank_context&)> f) override {
    begin();
    int const cores = std::min(at::get_num_threads(), threads_of_process());
    int const each = options_.threads > 0 ? options_.threads : std::max(1, cores / threads_.ranks());
    threads_.run({*line_, *groups_, each, options_.deadline, f}, std::chrono::milliseconds(5),
                 [&](std::vector<int> const& busy) {
                   listen();
                   say_wait_before_end();
                   if (failed_at_ && clock::now() > *failed_at_ + options_.grace)
                     kill_process(*line_, busy, [&](int code) { session_.leave(code); });
                 });
    await_others();
    if (!failures_.empty()) throw cause();
  }

 private:
  using clock = std::chrono::steady_clock;

  static int checked(mesh const& shape, process_session const& session) {
    if (shape.ranks() % session.size() == 0) return shape.ranks();
    throw error(exit_code::usage, "a mesh of " + options::to_text(shape) + " on " + std::to_string(session.size()) +
                                      " processes: each has as many ranks, so take a multiple of the processes");
  }

  void begin() {
    ++runs_;
    failures_.clear();
    failed_at_.reset();
    gone_since_.clear();
    announced_ = false;
    announced_ended_.assign(static_cast<std::size_t>(threads_.ranks()), false);
    if (!line_ || line_->failed()) {
      groups_.reset();
      line_ = std::make_shared<lifeline>(shape_.ranks(), options::launched().processes_on_host * threads_.ranks());
      groups_.emplace(shape_, threads_.first(), threads_.ranks(),
                      [this](auto const& which, std::vector<int> const& members) { return made(which, members); });
    }
    line_->begin();
    groups_->begin_run(options_.first_deadline);
  }

  std::vector<std::unique_ptr<group>> made(rank_groups::identity const& which, std::vector<int> const& members) const {
    auto const is_here = [this](int rank) { return tags_.process_of(rank) == session_.rank(); };
    if (std::none_of(members.begin(), members.end(), is_here))
      return std::vector<std::unique_ptr<group>>(members.size());
    bool const all_here = std::all_of(members.begin(), members.end(), is_here);
    auto hosts = all_here ? in_process_group::make(which.name, members, line_)
                          : process_group::make(which.name, members, which.number, which.line, session_, tags_, line_,
                                                options_.deterministic);
    return nccl_group::make(std::move(hosts), members, line_, session_.rank(), all_here, options_.deterministic);
  }

  /// Handles the notices (messages about failures and ended ranks) that other processes sent. Then
  /// sends them notices about a failure of this process and about its ranks that have ended.
  void listen() {
    for (process_notice& one : session_.heard()) early_.push_back(std::move(one));
    std::vector<process_notice> later;
    for (process_notice& one : early_) {
      if (one.run > runs_) {
        later.push_back(std::move(one));
      } else if (one.run == runs_) {
        if (one.ended_rank < 0) hear(one);
        else if (one.ended_rank < shape_.ranks() && tags_.process_of(one.ended_rank) == one.from)
          line_->end(one.ended_rank);
      }
    }
    early_ = std::move(later);
    for (process_notice one : session_.gone()) {
      if (ended(one.from)) continue;
      std::string const wait = line_->longest_wait();
      if (wait.empty() && !gone_for_a_moment(one.from)) continue;
      one.run = runs_;
      one.text = "rank " + ranks_text(one.from) + ": " + one.text + (wait.empty() ? "" : "; " + wait);
      hear(one);
      for_each_rank(one.from, [this](int rank) { line_->end(rank); });
    }
    // Read before the failure, which a rank records before it ends: others thus hear of the failure
    // first.
    std::vector<int> const ended_here = newly_ended();
    if (line_->failed() && !announced_) {
      announced_ = true;
      error const own = line_->cause();
      session_.announce({runs_, session_.rank(), -1, own.code(), own.what()});
      hear({runs_, session_.rank(), -1, own.code(), own.what()});
    }
    for (int const rank : ended_here) session_.announce({runs_, session_.rank(), rank});
  }

  /// Prints the collective in which a rank of this process has waited longest, before SIGTERM ends
  /// the process. One second after a process is gone, mpirun sends SIGTERM to all other processes,
  /// which get no other sign of the loss. If the program handles SIGTERM itself, the process
  /// continues, so that its ranks can save and end.
  void say_wait_before_end() {
    if (said_wait_ || !launcher_signal::came_before(std::chrono::milliseconds(300))) return;
    said_wait_ = true;
    if (std::string const wait = line_->longest_wait(); !wait.empty())
      std::fputs(
          (wait + on_host_of_process(session_.rank()) + ", and SIGTERM ends it: see what the others printed\n").c_str(),
          stderr);
    launcher_signal::pass_on();
  }

  /// Returns true if `process` has been known to be gone for more than one second. Within this
  /// second, a rank of this process can reach a collective that needs `process`. The error message
  /// can then name the collective.
  bool gone_for_a_moment(int process) {
    auto const [since, fresh] = gone_since_.try_emplace(process, clock::now());
    return !fresh && clock::now() > since->second + std::chrono::seconds(1);
  }

  template <class F>
  void for_each_rank(int process, F const& f) const {
    for (int i = 0; i < tags_.per_process(); ++i) f(process * tags_.per_process() + i);
  }

  /// Returns the ranks of a process as text for messages: "2" or "4 to 7".
  std::string ranks_text(int process) const {
    int const each = tags_.per_process(), first = process * each;
    return std::to_string(first) + (each > 1 ? " to " + std::to_string(first + each - 1) : "");
  }

  bool ended(int process) const {
    bool all = true;
    for_each_rank(process, [&](int rank) { all = all && line_->ended(rank); });
    return all;
  }

  /// Returns the ranks of this process that have ended and have not been announced to other
  /// processes. Marks them as announced.
  std::vector<int> newly_ended() {
    std::vector<int> ranks;
    for_each_rank(session_.rank(), [&](int rank) {
      auto const at = static_cast<std::size_t>(rank - threads_.first());
      if (line_->ended(rank) && !announced_ended_[at]) {
        announced_ended_[at] = true;
        ranks.push_back(rank);
      }
    });
    return ranks;
  }

  /// Records a failure that a process announced. If it is the first known failure and another
  /// process failed, ends the waits of all ranks of this process. This process then announces no
  /// failure of its own.
  void hear(process_notice const& one) {
    failures_.push_back(one);
    if (!failed_at_) failed_at_ = clock::now();
    if (one.from != session_.rank() && line_->fail(one.from, error::received(one.code, one.text))) announced_ = true;
  }

  /// Waits until all ranks of the world have ended, so that all processes begin the next run
  /// together. After a failure, waits at most twice the time rank_options::grace.
  void await_others() {
    auto const limit = std::max(options_.first_deadline, options_.deadline);
    auto const end = clock::now() + limit;
    while (true) {
      listen();
      std::vector<int> late;
      for (int rank = 0; rank < shape_.ranks(); ++rank)
        if (!line_->ended(rank)) late.push_back(rank);
      if (late.empty()) return;
      if (failed_at_ && clock::now() > *failed_at_ + 2 * options_.grace) return;
      if (!failed_at_ && clock::now() > end) miss_peers(*line_, threads_.first(), "at the end of the run", late, limit);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// Returns the failure of the run as the error that every process throws. A rank's own failure
  /// takes precedence over failures of ranks that lost a peer. Only one process, speaker(), prints
  /// the error.
  error cause() const {
    auto const worse = [](process_notice const& a, process_notice const& b) {
      auto const key = [](process_notice const& n) { return std::pair(n.code == exit_code::peer_lost, n.from); };
      return key(a) < key(b);
    };
    process_notice const& first = *std::min_element(failures_.begin(), failures_.end(), worse);
    error const made = error::received(first.code, first.text);
    return session_.rank() == speaker() ? made : made.silenced();
  }

  /// Returns the lowest number of a process that is not gone. This process prints the error.
  int speaker() const {
    std::vector<process_notice> const gone = session_.gone();
    int first = 0;
    while (std::any_of(gone.begin(), gone.end(), [&](process_notice const& one) { return one.from == first; })) ++first;
    return first;
  }

  /// Number of runs (calls of world::run) begun so far by all worlds of this process.
  inline static std::uint64_t runs_ = 0;
  /// Received notices (messages about failures and ended ranks) that belong to a later run,
  /// possibly of another world.
  inline static std::vector<process_notice> early_{};

  mesh shape_;
  rank_options options_;
  process_session& session_;
  message_tags tags_;
  rank_threads threads_;
  std::shared_ptr<lifeline> line_;
  std::optional<rank_groups> groups_;
  std::vector<process_notice> failures_;  ///< failures of the current run, at most one per process
  std::optional<clock::time_point> failed_at_;
  /// For each process that is gone, the time at which this process first noticed it in the current
  /// run.
  std::map<int, clock::time_point> gone_since_;
  /// True if the other processes already know of the current run's failure.
  bool announced_ = false;
  bool said_wait_ = false;
  /// For each rank of this process: true if its end was announced to other processes.
  std::vector<bool> announced_ended_;
};

}  // namespace redco::comm::detail
