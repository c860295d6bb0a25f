#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/setup.hpp>
#include <redco/workdir/best_metrics.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/traffic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace redco::run {

/// Numbers of calls and bytes that a rank sends in each of its groups, indexed by the bits of the
/// group's set of mesh axes. Sets that differ only by axes of size 1 have equal entries, except the
/// set of all axes: its entry counts the group `world`.
using group_traffic = std::array<shape::traffic, shape::axis_sets>;

/// A function that returns the messages that the plan predicts for a step of a rank of the pipeline
/// stage `stage`.
using planned_messages = std::function<cost::messages(cost::setup const& run, int stage)>;

/// Returns the calls and bytes in each group of a mesh that the plan's `planned` messages predict.
inline group_traffic planned_traffic(cost::messages const& planned, mesh const& on) {
  group_traffic all;
  for (cost::message_total const& one : planned)
    for (shape::axes some; some.bits < all.size(); ++some.bits)
      if (shape::group_name(on, some) == shape::group_name(on, one.over)) all[some.bits][one.collective] += one;
  return all;
}

/// The memory that one rank held and the messages that the rank sent in one step.
struct step_measure {
  /// Peak number of bytes of this rank's tensors; 0 if the run ended before the measured step.
  std::int64_t peak_bytes = 0;
  /// Peak number of bytes of all tensors on the rank's device, including tensors of other ranks; 0
  /// on a CPU.
  std::int64_t device_bytes = 0;
  /// Peak number of bytes that libtorch's allocator reserved on the rank's device; 0 on a CPU.
  std::int64_t reserved_bytes = 0;
  /// Calls and bytes that the rank sent in each of its groups; over() returns one group's entry.
  group_traffic sent;

  /// Returns the calls and bytes that this rank sent in its group over the mesh axes `some`.
  shape::traffic const& over(shape::axes some) const { return sent[some.bits]; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(peak_bytes, device_bytes, reserved_bytes);
    for (shape::traffic& one : sent)
      for (shape::traffic::entry& kind : one.kinds)
        archive(kind.calls, kind.payload_bytes, kind.wire_bytes, kind.host_bytes);
  }

  /// Starts to measure the peak memory and the messages of a rank that computes on `device`.
  static void begin(rank_context& rank, at::Device device) {
    rank.memory->reset_peak();
    if (device != tensors::cpu_device()) at::getDeviceAllocator(device.type())->resetPeakStats(device.index());
    rank.each_group([](std::string const&, comm::group& one) { one.reset_counters(); });
  }

  /// Returns the peak memory and the messages of a rank since its call of begin().
  static step_measure end(rank_context const& rank, at::Device device) {
    step_measure made{rank.memory->peak(), 0, 0, {}};
    std::map<std::string, shape::traffic> by_name;
    rank.each_group([&](std::string const& name, comm::group const& one) { by_name[name] = one.counters(); });
    for (shape::axes some; some.bits < made.sent.size(); ++some.bits)
      made.sent[some.bits] = by_name[shape::group_name(rank.mesh, some)];
    if (device == tensors::cpu_device()) return made;
    auto const peak = [all = at::getDeviceAllocator(device.type())->getDeviceStats(device.index())](auto which) {
      return (all.*which)[static_cast<std::size_t>(at::CachingAllocator::StatType::AGGREGATE)].peak;
    };
    made.device_bytes = peak(&at::CachingDeviceAllocator::DeviceStats::allocated_bytes);
    made.reserved_bytes = peak(&at::CachingDeviceAllocator::DeviceStats::reserved_bytes);
    return made;
  }
};

/// A record of a fit, to which the memory use and the messages that each rank measured are added.
class fit_report : public workdir::fit_record {
 public:
  explicit fit_report(int ranks) : measures(static_cast<std::size_t>(ranks)) {}

  /// Index of the step whose memory and messages are measured, counted from 0: the third step.
  static constexpr std::int64_t measured_step = 2;

  /// Memory and messages of each rank in the measured step, by rank.
  std::vector<step_measure> measures;
};

}  // namespace redco::run

namespace redco {

/// The result of a fit: number of steps, losses, evaluation and written files.
struct fit_result {
  /// Number of steps that the run has done, including steps before it was resumed.
  std::int64_t steps = 0;
  /// Loss of each step of this fit; NaN if no token or example of the step counted (all labels
  /// masked).
  std::vector<double> losses = {};
  /// Throughput: number of tokens, images or examples per second.
  double per_second = 0;
  /// Metrics of the last evaluation, by name; a loss in which no token or example counted is NaN.
  options::metric_map evaluation = {};
  /// Best value, and its step, of each metric whose best checkpoint was kept.
  workdir::best_values best = {};
  /// Path of the newest checkpoint of the run; empty if none was written.
  std::filesystem::path checkpoint = {};
  /// Paths of the result files and event files that the fit has written.
  std::vector<std::filesystem::path> files = {};
  /// Memory and messages of each rank in the third step, by rank.
  std::vector<run::step_measure> measures = {};
};

}  // namespace redco
