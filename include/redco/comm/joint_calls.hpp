#pragma once

#include <redco/comm/group.hpp>

#include <cstdint>

namespace redco::comm {

/// A kind of call of a network whose layers exchange rows with other ranks. All ranks of the group
/// make their calls together.
enum class joint_call : std::uint8_t {
  none,      ///< No call is left on this rank, which waits for those of the others
  forward,   ///< A forward pass without gradients
  recorded,  ///< A forward pass that autograd records
  backward,  ///< The backward pass of all recorded forward passes since the last one
  returned,  ///< The end of a loss function: no further call before backward
  counts,    ///< The sum over all replicas of the counts of a loss of several terms
};

/// Announces this rank's next call to the ranks of the group and returns the kind of call that all
/// of them make next. A rank without calls, which passes `none`, must make that call with 0 rows.
/// Returns `own` in a group of one rank. Throws `error` with exit code 70 if ranks announce
/// different calls, because their exchanges would not match.
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
