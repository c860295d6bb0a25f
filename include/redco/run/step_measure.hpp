#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/shape/traffic.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::run {

/// What one rank really held and sent in one step, from the counters of its memory and its groups.
struct step_measure {
  std::int64_t peak_bytes = 0;  ///< of tensors, at most at once; 0: the step was not reached
  std::int64_t device_bytes =
      0;  ///< the same by the allocator of the rank's device, other ranks there included; 0: a CPU
  std::int64_t reserved_bytes = 0;  ///< what that allocator had taken from the device at most
  traffic world, dp, tp;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(peak_bytes, device_bytes, reserved_bytes);
    for (traffic* one : {&world, &dp, &tp})
      for (traffic::entry& kind : one->kinds) archive(kind.calls, kind.payload_bytes, kind.wire_bytes, kind.host_bytes);
  }

  /// Starts counting, for a rank that computes there.
  static void begin(rank_context& rank, at::Device device) {
    rank.memory->reset_peak();
    if (device != host_device()) at::getDeviceAllocator(device.type())->resetPeakStats(device.index());
    for (group* one : {&rank.world, &rank.dp, &rank.tp}) one->reset_counters();
  }

  /// What was counted since.
  static step_measure end(rank_context const& rank, at::Device device) {
    step_measure made{rank.memory->peak(), 0, 0, rank.world.counters(), rank.dp.counters(), rank.tp.counters()};
    if (device == host_device()) return made;
    auto const peak = [all = at::getDeviceAllocator(device.type())->getDeviceStats(device.index())](auto which) {
      return (all.*which)[static_cast<std::size_t>(at::CachingAllocator::StatType::AGGREGATE)].peak;
    };
    made.device_bytes = peak(&at::CachingDeviceAllocator::DeviceStats::allocated_bytes);
    made.reserved_bytes = peak(&at::CachingDeviceAllocator::DeviceStats::reserved_bytes);
    return made;
  }
};

}  // namespace redco::run
