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

/// What one process tells all others beside its collectives: it failed, or a rank of its own has ended.
struct process_notice {
  std::uint64_t run = 0;
  int from = 0;         ///< the process
  int ended_rank = -1;  ///< this rank takes part no more in the run; else `process_session::failed` or `answered`
  exit_code code = exit_code::done;
  std::string text = {};
};

/// Messages under way, with what their memory lies in.
struct messages {
  /// What a transport knows of them.
  struct state {
    virtual ~state() = default;
  };

  std::unique_ptr<state> transport = {};
  std::vector<int> peers = {};           ///< of each
  std::vector<bool> receives = {};       ///< each is received here
  std::vector<at::Tensor> tensors = {};  ///< what they read and write
  std::vector<std::byte> bytes = {};
};

/// A process's part among those that a launcher started, from the first world to the end of the process: messages without
/// collectives. Any thread may call any member.
class process_session {
 public:
  /// Instead of a rank that has ended: the process failed; it knows that another did.
  static constexpr int failed = -1, answered = -2;

  process_session() = default;
  process_session(process_session const&) = delete;
  process_session& operator=(process_session const&) = delete;
  virtual ~process_session() = default;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// The largest number that a message may have.
  int most_tag() const noexcept { return most_tag_; }

  /// Messages of one tag between two processes arrive in their order; one may be shorter than the memory for it.
  virtual void send(messages& to, void const* data, std::size_t bytes, int peer, int tag) = 0;
  virtual void receive(messages& to, void* data, std::size_t bytes, int peer, int tag) = 0;
  virtual bool finished(messages& some) = 0;
  /// The peers whose messages have not come through.
  virtual std::vector<int> missing(messages& some) = 0;
  /// Keeps messages that will not come through, and their memory, to the end of the process.
  virtual void abandon(messages&& some) = 0;

  /// Tells all other processes.
  virtual void announce(process_notice const& what) = 0;
  /// What others have told meanwhile.
  virtual std::vector<process_notice> heard() = 0;
  /// Those whose processes have ended without a word, as far as is known; each with what is known of it, "its process ...".
  virtual std::vector<process_notice> gone() { return {}; }

  /// Called twice a second by a thread of its own, whatever the ranks do: takes in what others
  /// tell, and shows those who wait in leave() that this process lives.
  virtual void keep() = 0;

  /// The end of this process, which ends with `code`: waits for the others, a short while only
  /// where it failed, so that the launcher does not kill who still tells its end. Without them it
  /// is the launcher that ends them. Who does not show that it lives is not waited for.
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
