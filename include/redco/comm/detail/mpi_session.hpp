#pragma once

#include <redco/tensor/torch.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// The C++ bindings that old versions bring are not wanted.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace redco::comm::detail {

/// What one process tells all others beside its collectives: it failed, or its rank of this run has ended.
struct mpi_notice {
  std::uint64_t run = 0;
  int from = 0;
  bool ended = false;
  exit_code code = exit_code::done;
  std::string text = {};
};

/// Messages under way, with what their memory lies in.
struct mpi_messages {
  std::vector<MPI_Request> requests;
  std::vector<int> peers;                ///< of each request
  std::vector<bool> receives;            ///< each request is one
  std::vector<at::Tensor> tensors = {};  ///< what they read and write
  std::vector<std::byte> bytes = {};
};

/// This process's part in MPI, from the first world to the end of the process. Only its members call MPI, one at a time.
class mpi_session {
 public:
  /// Joins the others. Errors: exit code 76.
  static mpi_session& get() {
    static mpi_session& one = *new mpi_session;  // what ends the process still needs it
    return one;
  }

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// A number for messages of this kind, below 64, in this run: what a failed run left under way is never taken for another's.
  int tag(std::uint64_t run, int kind) const noexcept {
    return static_cast<int>(run % static_cast<std::uint64_t>(most_tag_ / 64)) * 64 + kind;
  }

  void send(mpi_messages& to, void const* data, std::size_t bytes, int peer, int tag) {
    each_block(bytes, [&](std::size_t at, int count) {
      MPI_Request one;
      check("MPI_Isend", MPI_Isend(static_cast<std::byte const*>(data) + at, count, MPI_BYTE, peer, tag, data_, &one));
      add(to, one, peer, false);
    });
  }

  void receive(mpi_messages& to, void* data, std::size_t bytes, int peer, int tag) {
    each_block(bytes, [&](std::size_t at, int count) {
      MPI_Request one;
      check("MPI_Irecv", MPI_Irecv(static_cast<std::byte*>(data) + at, count, MPI_BYTE, peer, tag, data_, &one));
      add(to, one, peer, true);
    });
  }

  bool finished(mpi_messages& some) {
    std::lock_guard const lock(mutex_);
    int all = 0;
    check("MPI_Testall",
          MPI_Testall(static_cast<int>(some.requests.size()), some.requests.data(), &all, MPI_STATUSES_IGNORE));
    return all != 0;
  }

  /// The peers whose messages have not come through.
  std::vector<int> missing(mpi_messages& some) {
    std::lock_guard const lock(mutex_);
    std::vector<int> late;
    for (std::size_t i = 0; i < some.requests.size(); ++i) {
      int done = 0;
      check("MPI_Test", MPI_Test(&some.requests[i], &done, MPI_STATUS_IGNORE));
      if (done == 0 && std::find(late.begin(), late.end(), some.peers[i]) == late.end()) late.push_back(some.peers[i]);
    }
    return late;
  }

  /// Keeps messages that will not come through, and their memory, to the end of the process.
  void abandon(mpi_messages&& some) {
    std::lock_guard const lock(mutex_);
    for (std::size_t i = 0; i < some.requests.size(); ++i)
      if (some.receives[i] && some.requests[i] != MPI_REQUEST_NULL) MPI_Cancel(&some.requests[i]);
    abandoned_.push_back(std::move(some));
  }

  /// Tells all other processes.
  void announce(mpi_notice const& what) {
    std::vector<std::byte> message(notice_bytes);
    std::string const text = what.text.substr(0, notice_bytes - sizeof(notice_head));
    notice_head const head{what.run, static_cast<std::int32_t>(what.code), what.ended ? 1 : 0,
                           static_cast<std::int64_t>(text.size())};
    std::memcpy(message.data(), &head, sizeof head);
    std::memcpy(message.data() + sizeof head, text.data(), text.size());
    std::lock_guard const lock(mutex_);
    told_.push_back({std::move(message), std::vector<MPI_Request>(static_cast<std::size_t>(size_), MPI_REQUEST_NULL)});
    telling& one = told_.back();
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_)
        check("MPI_Isend", MPI_Isend(one.message.data(), static_cast<int>(sizeof head + text.size()), MPI_BYTE, peer, 0,
                                     control_, &one.requests[static_cast<std::size_t>(peer)]));
  }

  /// What others have told meanwhile.
  std::vector<mpi_notice> heard() {
    std::vector<mpi_notice> all;
    std::lock_guard const lock(mutex_);
    told_.remove_if([&](telling& one) {
      int done = 0;
      check("MPI_Testall", MPI_Testall(size_, one.requests.data(), &done, MPI_STATUSES_IGNORE));
      return done != 0;
    });
    while (true) {
      int there = 0;
      MPI_Status from;
      check("MPI_Iprobe", MPI_Iprobe(MPI_ANY_SOURCE, 0, control_, &there, &from));
      if (there == 0) return all;
      std::vector<std::byte> message(notice_bytes);
      check("MPI_Recv", MPI_Recv(message.data(), notice_bytes, MPI_BYTE, from.MPI_SOURCE, 0, control_, &from));
      notice_head head;
      std::memcpy(&head, message.data(), sizeof head);
      char const* const text = reinterpret_cast<char const*>(message.data()) + sizeof head;
      all.push_back({head.run,
                     from.MPI_SOURCE,
                     head.ended != 0,
                     static_cast<exit_code>(head.code),
                     {text, static_cast<std::size_t>(head.text_bytes)}});
    }
  }

  /// The end of this process, which ends with `code`: waits for the others, a short while only where it failed, so that the
  /// launcher does not kill who still tells its end. Without them it is the launcher that ends them.
  void leave(int code) noexcept {
    if (std::exchange(left_, true)) return;
    int sound = code == 0 || abandoned_.empty() ? 1 : 0, all_sound = 0, done = 0;
    MPI_Request one;
    if (MPI_Iallreduce(&sound, &all_sound, 1, MPI_INT, MPI_MIN, control_, &one) != MPI_SUCCESS) return;
    auto const end =
        std::chrono::steady_clock::now() + (code == 0 ? std::chrono::seconds(3600) : std::chrono::seconds(5));
    while (MPI_Test(&one, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
      if (std::chrono::steady_clock::now() > end) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (done != 0 && all_sound != 0) MPI_Finalize();
  }

 private:
  static constexpr int notice_bytes = 4000;  // small enough to travel at once
  struct notice_head {
    std::uint64_t run;
    std::int32_t code, ended;
    std::int64_t text_bytes;
  };
  struct telling {
    std::vector<std::byte> message;
    std::vector<MPI_Request> requests;
  };

  mpi_session() {
    int given = 0;
    check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given));
    if (given < MPI_THREAD_SERIALIZED)
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
    std::atexit([] { get().leave(0); });
  }

  static void check(char const* call, int code) {
    if (code == MPI_SUCCESS) return;
    char words[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, words, &length);
    throw error(exit_code::peer_lost, std::string(call) + ": " + words + "; see whether all processes still run");
  }

  static void add(mpi_messages& to, MPI_Request one, int peer, bool receives) {
    to.requests.push_back(one);
    to.peers.push_back(peer);
    to.receives.push_back(receives);
  }

  /// MPI counts in int.
  template <class F>
  void each_block(std::size_t bytes, F const& f) {
    constexpr std::size_t most = std::size_t{1} << 30;
    std::lock_guard const lock(mutex_);
    for (std::size_t at = 0; at < bytes; at += most) f(at, static_cast<int>(std::min(most, bytes - at)));
  }

  std::mutex mutex_;
  MPI_Comm data_, control_;
  int rank_ = 0, size_ = 1, most_tag_ = 32767;
  std::list<telling> told_;
  std::vector<mpi_messages> abandoned_;
  bool left_ = false;
};

}  // namespace redco::comm::detail
