#pragma once

#include <redco/run/for_each_round.hpp>

#include <redco/config.hpp>

namespace redco::run {

REDCO_INLINE void for_each_round(batch_step const& at, group& dp, network_base const& net,
                                 function_ref<void(comm::replica_round const&)> compute) {
  auto const round = [&](std::int64_t i) {
    return comm::replica_round{&dp, net.meets_replicas() && i >= at.full_rounds};
  };
  for (std::int64_t i = 0; i < at.micro_batches; ++i) {
    compute(round(i));
    round(i).finish();
  }
  if (!net.meets_replicas()) return;
  for (std::int64_t i = at.micro_batches; i < at.rounds; ++i) round(i).sit_out();
  if (at.full_rounds == at.rounds) return;
  for (stored_parameter const& p : net.statistics()) {  // the first replica has been in all rounds
    dp.broadcast(p.master, 0);
    if (!p.value.is_alias_of(p.master)) p.value.copy_(p.master);
  }
}

REDCO_INLINE std::string smaller_rounds(network_base const& net, std::int64_t global_batch, std::int64_t micro_batch,
                                        int replicas) {
  std::int64_t const at_once = micro_batch * replicas;
  if (!net.meets_replicas() || at_once == 0 || at_once >= global_batch) return "";
  return "batch norm takes its statistics over " + std::to_string(at_once) +
         " examples, not over the global batch of " + std::to_string(global_batch) +
         ": other meshes and micro-batches train otherwise";
}

}  // namespace redco::run
