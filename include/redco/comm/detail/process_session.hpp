#pragma once

#include <redco/comm/detail/message_mover.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/axis.hpp>
#include <redco/diag/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// A short message that a process sends to all other processes outside collectives. It says that
/// the process failed, that one of its ranks has ended, or that it knows of a failure.
struct process_notice {
  std::uint64_t run = 0;
  int from = 0;  ///< number of the sending process
  /// Rank that has left the run, or one of the constants `process_session::failed` and `answered`.
  int ended_rank = -1;
  exit_code code = exit_code::done;
  std::string text = {};
};

/// A set of messages in flight, together with the memory that they use.
struct messages {
  /// A base class for data that a transport (MPI or TCP) keeps about the messages.
  struct state {
    virtual ~state() = default;
  };

  std::unique_ptr<state> transport = {};
  std::vector<int> peers = {};  ///< number of the other process, for each message
  /// For each message: true if this process receives it, false if this process sends it.
  std::vector<bool> receives = {};
  std::vector<at::Tensor> tensors = {};  ///< tensors whose memory the messages read or write
  std::vector<std::byte> bytes = {};
};

/// A process's connection with the other processes of its launcher. It lives from the creation of
/// the first world to the end of the process. It sends messages and has no collectives. Any thread
/// may call any member.
class process_session {
 public:
  /// Negative values of process_notice::ended_rank, which name no rank. `failed` means that the
  /// sending process failed. `answered` means that the sending process knows of another's failure.
  static constexpr int failed = -1, answered = -2;

  process_session() = default;
  process_session(process_session const&) = delete;
  process_session& operator=(process_session const&) = delete;
  virtual ~process_session() = default;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// Returns the largest tag that a message may have.
  int most_tag() const noexcept { return most_tag_; }

  /// Starts to send a message to process `peer` and adds it to the set `to`. Messages with equal
  /// tags between two processes arrive in order. A message may be shorter than the receiver's
  /// buffer.
  virtual void send(messages& to, void const* data, std::size_t bytes, int peer, int tag) = 0;
  virtual void receive(messages& to, void* data, std::size_t bytes, int peer, int tag) = 0;
  virtual bool finished(messages& some) = 0;
  /// Returns the thread that moves messages while the ranks compute.
  message_mover<messages>& mover() noexcept { return mover_; }
  /// Returns the numbers of the processes whose messages in `some` are not complete.
  virtual std::vector<int> missing(messages& some) = 0;
  /// Keeps incomplete messages and their memory until the messages are complete, at most until the
  /// end of the process. Used after a failure and for messages that nobody waits for, because a
  /// transport may still read or write the memory.
  virtual void abandon(messages&& some) = 0;

  /// Sends a notice (a message about a failure or an ended rank) to all other processes.
  virtual void announce(process_notice const& notice) = 0;
  /// Returns the notices of other processes that have arrived since the previous call.
  virtual std::vector<process_notice> heard() = 0;
  /// Returns a notice for each process that is lost, without waiting for a notice from that
  /// process. A process is lost if its connection is closed or it gives no sign of life. The text
  /// of the notice begins with "its process" and ends with the reason.
  virtual std::vector<process_notice> gone() { return {}; }

  /// Receives notices, and signals to processes that wait in leave() that this process lives. A
  /// separate thread calls this function twice a second.
  virtual void keep() = 0;

  /// Waits for the other processes before this process ends with `code`. Otherwise the launcher
  /// could kill a process that still has to report. If `code` is not 0, waits only a few seconds.
  /// Does not wait for processes that give no sign of life. No other member may be called
  /// afterwards.
  virtual void leave(int code) noexcept = 0;

 protected:
  static constexpr auto leave_patience = std::chrono::seconds(10);

  static void say_not_awaited(int process) {
    std::string const text = "process " + std::to_string(process) + on_host_of_process(process) +
                             " has not shown for " + std::to_string(leave_patience.count()) +
                             " s that it lives, and is not waited for; see what it does\n";
    std::fputs(text.c_str(), stderr);
  }

  int rank_ = 0, size_ = 1, most_tag_ = 32767;
  message_mover<messages> mover_{[this](messages& some) { return finished(some); }};
};

/// The tags of all messages in a world, and its map from ranks to processes. Messages of different
/// groups never share a tag, nor do messages of successive runs (calls of world::run). A message
/// that a failed run left in flight is therefore never taken for another.
class message_tags {
 public:
  enum channel { opening, payload, channels };

  /// Computes the tags for a world of `ranks` ranks. `runs` counts the runs; the reference must
  /// stay valid. Throws `error` with exit code 64 if the transport has too few tags.
  message_tags(process_session const& session, int ranks, std::uint64_t const& runs)
      : runs_(runs), ranks_(ranks), per_process_(ranks / session.size()) {
    std::int64_t const point_to_point = std::int64_t{per_process_} * per_process_;
    std::int64_t const kinds = group_numbers * (channels * std::int64_t{ranks_} + point_to_point);
    if (kinds > session.most_tag() / 2)
      throw error(exit_code::usage, std::to_string(ranks) + " ranks on " + std::to_string(session.size()) +
                                        " processes need " + std::to_string(2 * kinds) +
                                        " numbers of messages, and there are " + std::to_string(session.most_tag()) +
                                        ": start more processes with fewer ranks each");
    kinds_ = static_cast<int>(kinds);
    windows_ = static_cast<std::uint64_t>(session.most_tag() / kinds_);
  }

  int per_process() const noexcept { return per_process_; }
  int process_of(int rank) const noexcept { return rank / per_process_; }

  /// Returns the tag for messages of a collective between processes. `number` identifies the
  /// group's set of mesh axes, and `line` is the group's index among the groups over these axes.
  int of_collective(int number, int line, channel which) const noexcept {
    return in_run((number * ranks_ + line) * channels + which);
  }

  /// Returns the tag for point-to-point messages from rank `from` to rank `to` of another process.
  /// `number` identifies the set of mesh axes of their group.
  int of_point_to_point(int number, int from, int to) const noexcept {
    int const pair = (number * per_process_ + from % per_process_) * per_process_ + to % per_process_;
    return in_run(group_numbers * ranks_ * channels + pair);
  }

 private:
  static constexpr int group_numbers = 2 * shape::axis_sets;

  int in_run(int kind) const noexcept { return static_cast<int>(runs_ % windows_) * kinds_ + kind; }

  std::uint64_t const& runs_;
  int ranks_, per_process_, kinds_ = 1;
  std::uint64_t windows_ = 1;
};

}  // namespace redco::comm::detail
