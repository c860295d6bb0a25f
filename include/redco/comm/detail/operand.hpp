#pragma once

#include <redco/comm/group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/collective.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::comm::detail {

/// A description of a rank's arguments to a collective (operation, shape, dtype). It must be equal
/// on all ranks of the group.
struct operand {
  static constexpr std::size_t most_dims = 12;
  /// Value in `extents` of a tensor dimension whose size may differ between ranks.
  static constexpr std::int64_t any = -1;

  shape::collective kind = shape::collective::barrier;
  reduce_op op = reduce_op::sum;
  at::ScalarType type = at::kByte;
  std::int64_t argument = 0;  // tensor dimension, root rank, or tag
  std::int64_t dims = 0;
  bool in_cpu_memory = true;  // true if the tensor is in CPU memory
  // Extents of the leading dimensions; no tensor of redco has more than 12.
  std::array<std::int64_t, most_dims> extents{};

  static operand of(shape::collective kind, at::Tensor const& x, std::int64_t argument, reduce_op op = reduce_op::sum) {
    operand made{kind, op, x.scalar_type(), argument, x.dim(), tensors::in_cpu_memory(x), {}};
    std::size_t const known = std::min(static_cast<std::size_t>(x.dim()), most_dims);
    for (std::size_t dim = 0; dim < known; ++dim) made.extents[dim] = x.size(static_cast<std::int64_t>(dim));
    return made;
  }

  /// Returns the description of an all_to_all of `x`. If `rows` contains different counts, the
  /// number of rows of `x` may differ between ranks.
  static operand of_rows(at::Tensor const& x, row_counts const& rows) {
    operand made = of(shape::collective::all_to_all, x, 0);
    if (!rows.equal()) made.extents[0] = any;
    return made;
  }

  /// Returns a hash of this description. Different descriptions have equal hashes with a
  /// probability of 2^-64.
  std::uint64_t digest() const noexcept {
    std::uint64_t mixed = 0x9e3779b97f4a7c15u;
    auto const mix = [&](std::int64_t value) {
      mixed = (mixed ^ static_cast<std::uint64_t>(value)) * 0xbf58476d1ce4e5b9u;
      mixed ^= mixed >> 29;
    };
    mix(static_cast<std::int64_t>(kind) * 65'536 + static_cast<std::int64_t>(op) * 256 + static_cast<int>(type));
    mix(argument);
    mix(dims * 2 + in_cpu_memory);
    for (std::size_t dim = 0; dim < most_dims && static_cast<std::int64_t>(dim) < dims; ++dim) mix(extents[dim]);
    return mixed;
  }

  /// Returns the description as text for messages, such as "all_reduce(max) of Float [3, 5]",
  /// "broadcast(2) of Long []" or "barrier".
  std::string text() const {
    std::string out{name_of(kind)};
    if (kind == shape::collective::barrier) return out;
    bool const reduces = kind == shape::collective::all_reduce;
    out += "(" + (reduces ? std::string(name_of(op)) : std::to_string(argument)) + ") of " + c10::toString(type) + " [";
    for (std::size_t dim = 0; dim < most_dims && static_cast<std::int64_t>(dim) < dims; ++dim) {
      out += (dim ? ", " : "") + (extents[dim] == any ? "any" : std::to_string(extents[dim]));
    }
    return out + (in_cpu_memory ? "]" : "] on a device");
  }
};

/// Returns the collective_label (purpose of a collective) of the calling thread as part of a
/// sentence, for example " for 'grads'". Returns an empty text if the thread has no label.
inline std::string label_text() {
  std::string_view const label = collective_label::current();
  return label.empty() ? "" : " for '" + std::string(label) + "'";
}

/// Returns the name of a collective call for messages, for example "call 17 of group tp".
inline std::string call_text(std::uint64_t call, std::string const& group) {
  return "call " + std::to_string(call) + " of group " + group;
}

/// Returns the end of a sentence that names a collective call, for example "in all_reduce(sum) of
/// Float [3] for 'grads', call 17 of group tp". `operation` is the description of the operation.
inline std::string where_text(std::string const& operation, std::uint64_t call, std::string const& group) {
  return "in " + operation + label_text() + ", " + call_text(call, group);
}

/// Marks the run as failed because the ranks `missing` did not reach the call `where` within
/// `limit`. Does nothing if the run has already failed.
inline void miss_peers(lifeline& line, int me, std::string const& where, std::vector<int> const& missing,
                       std::chrono::milliseconds limit) {
  std::string ranks, ended;
  for (int const rank : missing) {
    std::string const one = std::to_string(rank) + on_host_of_rank(rank);
    ranks += (ranks.empty() ? "" : ", ") + one;
    if (line.ended(rank)) ended += (ended.empty() ? "" : ", ") + one;
  }
  line.fail(me, exit_code::peer_lost,
            ended.empty()
                ? "waited " + std::to_string(limit.count()) + " ms " + step_text() + where + " for rank " + ranks +
                      ", which did not come; see what it does, or raise the deadline (--deadline includes the "
                      "reading and collating of examples)"
                : "waits " + step_text() + where + " for rank " + ended +
                      ", which has ended; all ranks must make the same calls");
}

/// Marks the run as failed because the ranks `missing` did not reach the call `where`, unless the
/// run has already failed. Then throws the error of the first failure of the run.
[[noreturn]] inline void lose_peers(lifeline& line, int me, std::string const& where, std::vector<int> const& missing,
                                    std::chrono::milliseconds limit) {
  miss_peers(line, me, where, missing, limit);
  throw line.cause();
}

/// Returns the error for a collective that two ranks call with different operands (operation, shape
/// or dtype). `left` and `right` are the two ranks.
inline error disagreement(std::uint64_t call, std::string const& group, int left, operand const& of_left, int right,
                          operand const& of_right) {
  return {exit_code::internal, "ranks disagree " + step_text() + "in " + call_text(call, group) + label_text() +
                                   ": rank " + std::to_string(left) + " has " + of_left.text() + ", rank " +
                                   std::to_string(right) + " has " + of_right.text() +
                                   "; all ranks must make the same calls with equal shapes and dtypes"};
}

}  // namespace redco::comm::detail
