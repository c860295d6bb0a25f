#pragma once

#include <redco/comm/group.hpp>

#include <cstdint>

namespace redco::comm {

/// A kind of work that all ranks of a group do together, because messages pass between them in it:
/// rows of experts, values that the ranks gather, sums of gradients, or sums of counts. Ranks
/// announce each such call to each other.
enum class joint_call : std::uint8_t {
  none,      ///< No call is left on this rank, which takes part in the calls of other ranks
  forward,   ///< A forward pass without gradients
  recorded,  ///< A forward pass that autograd records
  backward,  ///< The backward pass of all recorded forward passes since the last backward
  returned,  ///< The end of a loss function: no further forward pass before backward
  counts,    ///< The sum over all replicas of the counts of a loss of several terms
};

/// Announces this rank's next call to the ranks of the group and returns the kind of call that all
/// of them make next. A rank that passes `none` must take part in that call: in a sum of counts
/// with zeros, and in other calls with 0 rows or with no gradients. Returns `own` in a group of one
/// rank. Throws `error` with exit code 70 if ranks announce different calls, because their messages
/// would not match.
joint_call announced(group& ranks, joint_call own);

/// Announces this rank's next call to the ranks of the group, whose next calls may differ. Returns
/// the kind of call that comes first: of those that ranks announce, the first in the order of
/// joint_call, and `none` only if no rank has a call left. A rank whose own call comes later takes
/// part in that call and announces its own again.
joint_call first_of(group& ranks, joint_call own);

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/joint_calls.inl.hpp>
#endif
