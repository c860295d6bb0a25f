#pragma once

#include <redco/comm/detail/process_session.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <cstdint>
#include <string>

namespace redco::comm::detail {

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
    std::int64_t const letters = std::int64_t{per_process_} * per_process_;
    std::int64_t const kinds = group_numbers * (channels * std::int64_t{ranks_} + letters);
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
  int of_letter(int number, int from, int to) const noexcept {
    int const pair = (number * per_process_ + from % per_process_) * per_process_ + to % per_process_;
    return in_run(group_numbers * ranks_ * channels + pair);
  }

 private:
  static constexpr int group_numbers = 32;

  int in_run(int kind) const noexcept { return static_cast<int>(runs_ % windows_) * kinds_ + kind; }

  std::uint64_t const& runs_;
  int ranks_, per_process_, kinds_ = 1;
  std::uint64_t windows_ = 1;
};

}  // namespace redco::comm::detail
