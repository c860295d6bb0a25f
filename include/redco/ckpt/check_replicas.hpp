#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/workdir/disk_limits.hpp>

#include <cstdint>
#include <span>

namespace redco::ckpt {

/// Compares the values that several ranks hold of a run's state: parts with equal names and boxes,
/// by digests. These are the whole state of data-parallel replicas, the groups' shares with ZeRO
/// within groups, and replicated tensors. All ranks of `world` must call it. `step`: number of the
/// step, for messages. `limits`: how long ranks wait for each other, because it begins a save.
/// Throws `error` with exit code 70 on all ranks if values differ in a bit; the message names the
/// ranks, their hosts and the first tensor.
void check_replicas(std::span<state_part const> parts, comm::group& world, std::int64_t step,
                    workdir::disk_limits const& limits = {});

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/check_replicas.inl.hpp>
#endif
