#pragma once

#include "sample_steps.hpp"
#include "timed_task.hpp"

#include <redco/cost/machine.hpp>
#include <redco/cost/step_time.hpp>

#include <redco/options/launch.hpp>

#include <redco/shape/hosts.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace calibration {

/// A measurement of the messages between the processes of a launcher, each of which counts as one
/// host: groups with one rank on each host.
class link_calibration {
 public:
  explicit link_calibration(redco::tensors::device_choice const& devices) : payload_(payload * larger(devices, 64)) {
    for (int group = 2; group <= hosts_; ++group) {
      if (hosts_ % group != 0) continue;
      redco::mesh const shards{.dp = hosts_ / group, .tp = group};
      reductions_.push_back({shards, [=, this](auto& rank) { return reductions_of(rank, devices, payload_); }});
      small_.push_back({shards, [=](auto& rank) { return reductions_of(rank, devices, 64); }});
      if (group != 2 && group != 4) continue;  // the sample models have 4 heads
      for (redco::dtype const compute : dtypes) add_steps(steps_, devices, shards, compute, hosts_);
    }
  }

  void measure() {
    for (int round = 0; round < rounds; ++round) {
      for (task& one : reductions_) time(one), time_next_to_computation(one);
      for (task& one : small_) time(one);
      for (step_task& one : steps_) time(one.timing);
    }
  }

  /// Returns the machine with the measured links in place of its links between this number of
  /// hosts. Only the process of rank 0 may call it.
  redco::cost::machine added_to(redco::cost::machine m) const {
    std::erase_if(m.links, [&](redco::cost::host_link const& one) { return one.of == hosts_; });
    std::vector<redco::cost::host_link> links;
    for (task const& one : reductions_) {
      int const group = one.mesh.tp;
      auto const sent = redco::shape::host_bytes(redco::shape::collective::all_reduce, payload_, {group, group, 1});
      links.push_back({group, hosts_, redco::options::launched().processes_on_host, 0,
                       static_cast<double>(reductions * sent) / median(one.seconds), median(one.lost)});
    }
    m.links.insert(m.links.end(), links.begin(), links.end());
    for (std::size_t i = 0; i < links.size(); ++i)
      links[i].seconds_per_call = seconds_per_call(links[i], m, median(small_[i].seconds) / reductions);
    std::copy(links.begin(), links.end(), m.links.end() - static_cast<std::ptrdiff_t>(links.size()));
    return m;
  }

 private:
  /// Returns the seconds per message that steps with shards need beyond their predicted time. If no
  /// step was measured for this number of hosts, returns the time of a 64-byte all-reduce.
  double seconds_per_call(redco::cost::host_link const& link, redco::cost::machine const& m, double alone) const {
    std::vector<double> all;
    for (step_task const& one : steps_) {
      if (one.settings.run.mesh.tp != link.hosts) continue;
      redco::cost::rank_cost const cost = cost_of(one.settings);
      double const rest = median(one.timing.seconds) - redco::cost::step_time_of(cost, one.settings.run, m).total();
      all.push_back(rest / static_cast<double>(cost.messages.calls()));
    }
    return all.empty() ? alone : std::max(0.0, median(all));
  }

  std::int64_t payload_;
  int hosts_ = redco::options::launched().processes;
  std::vector<task> reductions_, small_;
  std::vector<step_task> steps_;
};

}  // namespace calibration
