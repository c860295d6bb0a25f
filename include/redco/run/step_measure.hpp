#pragma once

#include <redco/comm/rank_context.hpp>

#include <redco/shape/traffic.hpp>

#include <cstdint>

namespace redco::run {

/// What one rank really held and sent in one step, from the counters of its memory and its groups.
struct step_measure {
  std::int64_t peak_bytes = 0;  ///< of tensors, at most at once; 0: the step was not reached
  traffic world, dp, tp;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(peak_bytes);
    for (traffic* one : {&world, &dp, &tp})
      for (traffic::entry& kind : one->kinds) archive(kind.calls, kind.payload_bytes, kind.wire_bytes, kind.host_bytes);
  }

  /// Starts counting.
  static void begin(rank_context& rank) {
    rank.memory->reset_peak();
    for (group* one : {&rank.world, &rank.dp, &rank.tp}) one->reset_counters();
  }

  /// What was counted since.
  static step_measure end(rank_context const& rank) {
    return {rank.memory->peak(), rank.world.counters(), rank.dp.counters(), rank.tp.counters()};
  }
};

}  // namespace redco::run
