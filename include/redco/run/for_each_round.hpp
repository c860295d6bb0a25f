#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/data/batches.hpp>

#include <cstdint>
#include <string>

namespace redco::run {

/// Calls compute(round) for each micro-batch of this replica in a step. Where layers sum over the replicas, the group `dp`,
/// it takes part in the rounds in which it has none, and takes over the statistics that the others have followed meanwhile.
void for_each_round(batch_step const& at, group& dp, network_base const& net,
                    function_ref<void(comm::replica_round const&)> compute);

/// What to say of a run whose rounds are smaller than the global batch, where layers look at a whole round; else empty.
std::string smaller_rounds(network_base const& net, std::int64_t global_batch, std::int64_t micro_batch, int replicas);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/for_each_round.inl.hpp>
#endif
