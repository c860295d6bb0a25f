#pragma once

#ifdef REDCO_WITH_MPI

#include <redco/comm/detail/answers.hpp>
#include <redco/comm/detail/launcher_signal.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/rank_hosts.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Excludes the C++ bindings of old MPI versions.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace redco::comm::detail {

/// A process_session (connection with all other processes) by MPI. Only members of this class call
/// MPI, one thread at a time.
class mpi_session final : public process_session {
 public:
  /// Initialises MPI, which connects the processes. Throws `error` with exit code 76 if MPI does
  /// not allow calls from several threads.
  mpi_session() {
    int provided = 0;
    check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
    if (provided < MPI_THREAD_SERIALIZED)
      throw error(exit_code::rendezvous,
                  "this MPI allows calls of one thread only: take one with MPI_THREAD_SERIALIZED");
    MPI_Comm_dup(MPI_COMM_WORLD, &data_);
    MPI_Comm_dup(MPI_COMM_WORLD, &control_);
    for (MPI_Comm const one : {data_, control_}) MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    MPI_Comm_rank(data_, &rank_);
    MPI_Comm_size(data_, &size_);
    void* most = nullptr;
    int known = 0;
    MPI_Comm_get_attr(data_, MPI_TAG_UB, &most, &known);
    if (known != 0) most_tag_ = *static_cast<int*>(most);
    answers_ = answers(size_);
    peers_.resize(static_cast<std::size_t>(size_));
    launcher_signal::watch();
    name_hosts();
  }

  void send(messages& to, void const* data, std::size_t bytes, int peer, int tag) override {
    each_block(bytes, [&](std::size_t at, int count) {
      MPI_Request one;
      check("MPI_Isend", MPI_Isend(static_cast<std::byte const*>(data) + at, count, MPI_BYTE, peer, tag, data_, &one));
      add(to, one, peer, false);
    });
  }

  void receive(messages& to, void* data, std::size_t bytes, int peer, int tag) override {
    each_block(bytes, [&](std::size_t at, int count) {
      MPI_Request one;
      check("MPI_Irecv", MPI_Irecv(static_cast<std::byte*>(data) + at, count, MPI_BYTE, peer, tag, data_, &one));
      add(to, one, peer, true);
    });
  }

  bool finished(messages& some) override {
    std::lock_guard const lock(mutex_);
    std::vector<MPI_Request>& all = requests_of(some);
    int done = 0;
    check("MPI_Testall", MPI_Testall(static_cast<int>(all.size()), all.data(), &done, MPI_STATUSES_IGNORE));
    return done != 0;
  }

  std::vector<int> missing(messages& some) override {
    std::lock_guard const lock(mutex_);
    std::vector<MPI_Request>& all = requests_of(some);
    std::vector<int> late;
    for (std::size_t i = 0; i < all.size(); ++i) {
      int done = 0;
      check("MPI_Test", MPI_Test(&all[i], &done, MPI_STATUS_IGNORE));
      if (done == 0 && std::find(late.begin(), late.end(), some.peers[i]) == late.end()) late.push_back(some.peers[i]);
    }
    return late;
  }

  void abandon(messages&& some) override {
    std::lock_guard const lock(mutex_);
    std::vector<MPI_Request>& all = requests_of(some);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (some.receives[i] && all[i] != MPI_REQUEST_NULL) MPI_Cancel(&all[i]);
    drop_complete();
    abandoned_.push_back(std::move(some));
  }

  void announce(process_notice const& notice) override {
    std::lock_guard const lock(mutex_);
    if (notice.ended_rank == failed) answers_.fail(notice.run);
    tell(others(), notice.ended_rank, notice.run, notice.code, notice.text);
  }

  std::vector<process_notice> heard() override {
    std::lock_guard const lock(mutex_);
    take_notices();
    return std::exchange(heard_, {});
  }

  void keep() override {
    std::lock_guard const lock(mutex_);
    if (launcher_signal::came_before(std::chrono::milliseconds(800))) launcher_signal::pass_on();
    if (left_) return;
    take_notices();
    drop_complete();
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_ && peers_[static_cast<std::size_t>(peer)].leaves) tell({peer}, alive, 0, exit_code::done, "");
  }

  std::vector<process_notice> gone() override {
    std::lock_guard const lock(mutex_);
    std::vector<process_notice> all;
    for (int other = 0; other < size_; ++other)
      if (other != rank_ && answers_.silent(other))
        all.push_back({0, other, failed, exit_code::peer_lost,
                       "its process" + on_host_of_process(other) +
                           " does not answer: it is stopped, or the way to it is cut; see what it does"});
    return all;
  }

  void leave(int code) noexcept override try {
    mover_.stop();
    std::unique_lock alone(mutex_, std::try_to_lock);
    // Another thread holds the lock for a moment only, unless MPI does not return.
    for (int turn = 0; turn < 100 && !alone; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      (void)alone.try_lock();
    }
    if (!alone || std::exchange(left_, true)) return;
    for (int other = 0; other < size_; ++other)
      if (other != rank_ && answers_.silent(other)) return;
    tell(others(), leaving, 0, exit_code::done, "");
    auto const begin = clock::now(), end = begin + (code == 0 ? std::chrono::seconds(3600) : std::chrono::seconds(5));
    MPI_Request all_are_done = MPI_REQUEST_NULL;
    bool asked = false;
    while (clock::now() < end) {
      take_notices();
      take_unwanted();
      if (launcher_signal::came_before(std::chrono::milliseconds(0))) launcher_signal::pass_on();
      if (code == 0 && somebody_is_silent(begin)) return;
      if (!asked && nothing_is_under_way())
        if (asked = MPI_Ibarrier(control_, &all_are_done) == MPI_SUCCESS; !asked) return;
      int done = 0;
      if (asked && (MPI_Test(&all_are_done, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!asked || all_are_done != MPI_REQUEST_NULL) return;
    take_notices();
    MPI_Finalize();
  } catch (error const&) {
    // MPI is broken; the launcher ends the other processes.
  }

 private:
  using clock = std::chrono::steady_clock;

  // Small enough that MPI sends a notice without waiting for the receiver.
  static constexpr int notice_bytes = 4000;
  // Values of ended_rank in notices that are about no rank.
  static constexpr int alive = answered - 1, leaving = answered - 2;
  struct notice_head {
    std::uint64_t run;
    std::int32_t code, ended_rank;
  };
  struct peer_state {
    bool leaves = false;
    clock::time_point heard_at = clock::now();
  };
  struct telling {
    std::string message;
    std::vector<MPI_Request> requests;
  };
  struct unwanted {
    std::vector<std::byte> message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Receives all notices (messages about failures and ended ranks) that have arrived, and frees
  /// the sent ones. The caller must hold `mutex_`.
  void take_notices() {
    sent_notices_.remove_if([&](telling& one) {
      int done = 0;
      check("MPI_Testall",
            MPI_Testall(static_cast<int>(one.requests.size()), one.requests.data(), &done, MPI_STATUSES_IGNORE));
      return done != 0;
    });
    while (true) {
      int there = 0, bytes = 0;
      MPI_Status from;
      check("MPI_Iprobe", MPI_Iprobe(MPI_ANY_SOURCE, 0, control_, &there, &from));
      if (there == 0) return;
      std::vector<char> message(notice_bytes);
      check("MPI_Recv", MPI_Recv(message.data(), notice_bytes, MPI_BYTE, from.MPI_SOURCE, 0, control_, &from));
      MPI_Get_count(&from, MPI_BYTE, &bytes);
      notice_head head;
      if (bytes < static_cast<int>(sizeof head)) continue;
      std::memcpy(&head, message.data(), sizeof head);
      peer_state& peer = peers_[static_cast<std::size_t>(from.MPI_SOURCE)];
      peer.heard_at = clock::now();
      peer.leaves = peer.leaves || head.ended_rank == leaving;
      answers_.answer(from.MPI_SOURCE, head.run);
      if (head.ended_rank <= answered) continue;
      std::string const text(message.begin() + sizeof head, message.begin() + bytes);
      heard_.push_back({head.run, from.MPI_SOURCE, head.ended_rank, static_cast<exit_code>(head.code), text});
      if (head.ended_rank == failed && answers_.fail(head.run)) tell(others(), answered, head.run, exit_code::done, "");
    }
  }

  /// Returns true if a process has not responded for ten seconds since `since`, and prints a
  /// message about it. Without that process, MPI_Finalize would never return.
  bool somebody_is_silent(clock::time_point since) const {
    bool silent = false;
    for (int other = 0; other < size_; ++other) {
      peer_state const& one = peers_[static_cast<std::size_t>(other)];
      if (other == rank_ || one.leaves || clock::now() < std::max(since, one.heard_at) + leave_patience) continue;
      say_not_awaited(other);
      silent = true;
    }
    return silent;
  }

  std::vector<int> others() const {
    std::vector<int> all;
    for (int other = 0; other < size_; ++other)
      if (other != rank_) all.push_back(other);
    return all;
  }

  /// Receives and drops messages for which nobody waits any more. MPI_Finalize needs all messages
  /// to be received.
  void take_unwanted() {
    taken_.remove_if([](unwanted& one) {
      int done = 0;
      return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
    });
    int there = 0, bytes = 0;
    MPI_Message which;
    MPI_Status from;
    while (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, data_, &there, &which, &from) == MPI_SUCCESS && there != 0) {
      MPI_Get_count(&from, MPI_BYTE, &bytes);
      unwanted& message = taken_.emplace_back();
      message.message.resize(static_cast<std::size_t>(bytes));
      MPI_Imrecv(message.message.data(), bytes, MPI_BYTE, &which, &message.request);
    }
  }

  /// Returns true if none of this process's own notices and abandoned messages is in flight any
  /// more.
  bool nothing_is_under_way() {
    drop_complete();
    return abandoned_.empty() &&
           std::all_of(sent_notices_.begin(), sent_notices_.end(), [](telling& one) { return all_done(one.requests); });
  }

  static bool all_done(std::vector<MPI_Request>& some) {
    int all = 0;
    return MPI_Testall(static_cast<int>(some.size()), some.data(), &all, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
           all != 0;
  }

  void drop_complete() {
    std::erase_if(abandoned_, [](messages& one) { return all_done(requests_of(one)); });
  }

  static void check(char const* call, int code) {
    if (code == MPI_SUCCESS) return;
    char words[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, words, &length);
    throw error(exit_code::peer_lost, std::string(call) + ": " + words + "; see whether all processes still run");
  }

  void name_hosts() const {
    constexpr std::size_t room = 256;
    std::string own = host_name(), all(room * static_cast<std::size_t>(size_), '\0');
    own.resize(room);
    MPI_Allgather(own.data(), room, MPI_BYTE, all.data(), room, MPI_BYTE, control_);
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(size_); ++rank)
      rank_hosts::all().of_process.emplace_back(all.c_str() + rank * room);
  }

  void tell(std::vector<int> const& peers, int ended_rank, std::uint64_t run, exit_code code,
            std::string const& words) {
    notice_head const head{run, static_cast<std::int32_t>(code), ended_rank};
    std::string message(reinterpret_cast<char const*>(&head), sizeof head);
    message += words.substr(0, notice_bytes - sizeof head);
    sent_notices_.push_back({std::move(message), std::vector<MPI_Request>(peers.size(), MPI_REQUEST_NULL)});
    telling& one = sent_notices_.back();
    for (std::size_t i = 0; i < peers.size(); ++i)
      check("MPI_Isend", MPI_Isend(one.message.data(), static_cast<int>(one.message.size()), MPI_BYTE, peers[i], 0,
                                   control_, &one.requests[i]));
  }

  struct requests final : messages::state {
    std::vector<MPI_Request> all;
  };

  static std::vector<MPI_Request>& requests_of(messages& some) {
    if (!some.transport) some.transport = std::make_unique<requests>();
    return static_cast<requests&>(*some.transport).all;
  }

  static void add(messages& to, MPI_Request one, int peer, bool receives) {
    requests_of(to).push_back(one);
    to.peers.push_back(peer);
    to.receives.push_back(receives);
  }

  /// Splits a message of `bytes` bytes into blocks of at most 1 GiB and calls `f(offset, count)`
  /// for each block. The reason is that MPI counts bytes in `int`.
  template <class F>
  void each_block(std::size_t bytes, F const& f) {
    constexpr std::size_t most = std::size_t{1} << 30;
    std::lock_guard const lock(mutex_);
    for (std::size_t at = 0; at < bytes; at += most) f(at, static_cast<int>(std::min(most, bytes - at)));
  }

  std::mutex mutex_;
  MPI_Comm data_, control_;
  answers answers_;
  std::vector<peer_state> peers_;
  std::vector<process_notice> heard_;
  std::list<telling> sent_notices_;
  std::vector<messages> abandoned_;
  std::list<unwanted> taken_;
  bool left_ = false;
};

/// Joins the processes that mpirun started. Throws `error` with exit code 76 if MPI does not allow
/// calls from several threads.
inline std::unique_ptr<process_session> join_by_mpi() { return std::make_unique<mpi_session>(); }

}  // namespace redco::comm::detail

#endif
