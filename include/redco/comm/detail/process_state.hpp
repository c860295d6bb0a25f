#pragma once

#include <redco/comm/detail/mailbox.hpp>
#include <redco/comm/detail/meeting.hpp>
#include <redco/comm/detail/process_exchange.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// State that the members (ranks) of a group in one process share: a meeting point in shared
/// memory, a channel to other processes, and the current call. A member's seat is its index among
/// these members.
struct process_state {
  struct shown {
    at::Tensor x, out;
  };

  process_state(std::string const& name, std::vector<int> const& members, int number, int line,
                process_session& session, message_tags const& tags, std::shared_ptr<lifeline> const& life,
                bool in_rank_order)
      : others(name, number, line, members, session, tags, life),
        here(name, {members.begin() + at(first()), members.begin() + at(first() + seats())}, life),
        by_seat(seats()),
        by_rank(in_rank_order || others.parties() == members.size()) {}

  std::size_t first() const { return others.begin(others.me()); }
  std::size_t seats() const { return others.count(others.me()); }

  void const* source(std::size_t seat) const { return by_seat[seat].x.data_ptr(); }
  std::vector<void const*> sources() const {
    std::vector<void const*> all;
    for (shown const& one : by_seat) all.push_back(one.x.data_ptr());
    return all;
  }

  /// Returns an empty set of messages. The set keeps the tensors of all members in this process
  /// alive until its messages are complete.
  messages messages_of_all() const {
    messages some;
    for (shown const& one : by_seat) some.tensors.insert(some.tensors.end(), {one.x, one.out});
    return some;
  }

  static std::byte* room(std::vector<std::byte>& in, std::size_t bytes) {
    if (in.size() < bytes) in.resize(bytes);
    return in.data();
  }

  process_exchange others;
  meeting here;
  mailbox post;
  /// Tensors of the current collective, indexed by seat (index of a member in this process).
  std::vector<shown> by_seat;
  bool by_rank;                    ///< true if the collectives of this group sum in rank order
  std::exception_ptr failure;      ///< failure of the message exchange in the current call
  std::vector<std::byte> scratch;  ///< buffer for bytes received from other processes
  std::vector<std::byte> partial;  ///< buffer for sums over the members in this process
  /// Pointers to the rows of all ranks that the members in this process read.
  std::vector<void const*> rows;

 private:
  static std::ptrdiff_t at(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }
};

}  // namespace redco::comm::detail
