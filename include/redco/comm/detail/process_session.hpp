#pragma once

#include <redco/comm/rank_places.hpp>

#include <redco/tensor/torch.hpp>

#include <redco/diag/exit_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// A notice that a process sends to all others outside its collectives: the process failed, or one
/// of its ranks has ended.
struct process_notice {
  std::uint64_t run = 0;
  int from = 0;  ///< number of the sending process
  /// Rank that takes part no more in the run, or `process_session::failed` or `answered`.
  int ended_rank = -1;
  exit_code code = exit_code::done;
  std::string text = {};
};

/// A set of messages in flight, together with the memory that they use.
struct messages {
  /// A base class for the data that a transport keeps about the messages.
  struct state {
    virtual ~state() = default;
  };

  std::unique_ptr<state> transport = {};
  std::vector<int> peers = {};           ///< peer of each message
  std::vector<bool> receives = {};       ///< true for each message that is received here
  std::vector<at::Tensor> tensors = {};  ///< tensors that the messages read and write
  std::vector<std::byte> bytes = {};
};

/// A process's connection with the other processes of a launcher, from the first world to the end
/// of the process. It sends messages and has no collectives. Any thread may call any member.
class process_session {
 public:
  /// Values of process_notice::ended_rank that mean no rank. `failed`: the sender failed.
  /// `answered`: the sender knows of a failure.
  static constexpr int failed = -1, answered = -2;

  process_session() = default;
  process_session(process_session const&) = delete;
  process_session& operator=(process_session const&) = delete;
  virtual ~process_session() = default;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// Returns the largest tag that a message may have.
  int most_tag() const noexcept { return most_tag_; }

  /// Starts to send a message to process `peer` and adds it to `to`. Messages with one tag between
  /// two processes arrive in order. A message may be shorter than the memory of its receiver.
  virtual void send(messages& to, void const* data, std::size_t bytes, int peer, int tag) = 0;
  virtual void receive(messages& to, void* data, std::size_t bytes, int peer, int tag) = 0;
  virtual bool finished(messages& some) = 0;
  /// Returns the peers whose messages in `some` are not complete.
  virtual std::vector<int> missing(messages& some) = 0;
  /// Keeps messages that will never complete, and their memory, until the end of the process.
  virtual void abandon(messages&& some) = 0;

  /// Sends a notice to all other processes.
  virtual void announce(process_notice const& what) = 0;
  /// Returns the notices that have arrived since the previous call.
  virtual std::vector<process_notice> heard() = 0;
  /// Returns a notice for each process that is known to have ended without sending one. Its text,
  /// "its process ...", says what is known.
  virtual std::vector<process_notice> gone() { return {}; }

  /// Receives notices, and shows the processes that wait in leave() that this process lives. A
  /// separate thread calls it twice a second, whatever the ranks do.
  virtual void keep() = 0;

  /// Waits for the other processes before this process ends with `code`, so that the launcher does
  /// not kill a process that still has to report. If `code` is not 0, waits only a few seconds.
  /// Does not wait for processes that do not show that they live. Call last.
  virtual void leave(int code) noexcept = 0;

 protected:
  static constexpr auto leave_patience = std::chrono::seconds(10);

  static void say_not_awaited(int process) {
    std::string const text = "process " + std::to_string(process) + place_of_process(process) + " has not shown for " +
                             std::to_string(leave_patience.count()) +
                             " s that it lives, and is not waited for; see what it does\n";
    std::fputs(text.c_str(), stderr);
  }

  int rank_ = 0, size_ = 1, most_tag_ = 32767;
};

}  // namespace redco::comm::detail
