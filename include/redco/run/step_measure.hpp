#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/cost/messages.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/group_name.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/traffic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>

namespace redco::run {

/// Calls and bytes of a rank in its groups, by the bits of their axes. Sets of axes that differ by
/// axes of one rank are one group.
using group_traffic = std::array<traffic, 1 << std::size(all_axes)>;

/// Returns the calls and bytes that a plan has for the groups of a mesh.
inline group_traffic planned_traffic(cost::messages const& planned, mesh const& on) {
  group_traffic all;
  for (cost::message_total const& one : planned)
    for (axes some; some.bits < all.size(); ++some.bits)
      if (group_name(on, some) == group_name(on, one.over)) all[some.bits][one.what] += one;
  return all;
}

/// Memory that one rank held and messages that it sent in one step, from the counters of its memory
/// and its groups.
struct step_measure {
  std::int64_t peak_bytes = 0;  ///< of tensors, at most at once; 0: the step was not reached
  std::int64_t device_bytes =
      0;  ///< the same by the allocator of the rank's device, other ranks there included; 0: a CPU
  std::int64_t reserved_bytes = 0;  ///< what that allocator had taken from the device at most
  group_traffic sent;               ///< see over()

  /// Returns the calls and bytes of this rank in its group over these axes.
  traffic const& over(axes some) const { return sent[some.bits]; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(peak_bytes, device_bytes, reserved_bytes);
    for (traffic& one : sent)
      for (traffic::entry& kind : one.kinds) archive(kind.calls, kind.payload_bytes, kind.wire_bytes, kind.host_bytes);
  }

  /// Starts counting, for a rank that computes there.
  static void begin(rank_context& rank, at::Device device) {
    rank.memory->reset_peak();
    if (device != host_device()) at::getDeviceAllocator(device.type())->resetPeakStats(device.index());
    rank.each_group([](std::string const&, group& one) { one.reset_counters(); });
  }

  /// What was counted since.
  static step_measure end(rank_context const& rank, at::Device device) {
    step_measure made{rank.memory->peak(), 0, 0, {}};
    std::map<std::string, traffic> by_name;
    rank.each_group([&](std::string const& name, group const& one) { by_name[name] = one.counters(); });
    for (axes some; some.bits < made.sent.size(); ++some.bits)
      made.sent[some.bits] = by_name[group_name(rank.mesh, some)];
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
