#pragma once

#include <redco/cost/memory.hpp>
#include <redco/cost/simulation.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::report {

/// A number of bytes with the name of its kind, such as "activations", as used in all reports.
struct memory_line {
  std::string_view kind;
  std::int64_t bytes = 0;
};

/// Returns the bytes of one rank by kind, such as parameters and activations, in the order in which
/// reports list them. "gathered": values of parameters that a rank gathers from other replicas.
constexpr std::array<memory_line, 12> memory_lines(cost::memory const& m) {
  return {{{"parameters", m.parameters},
           {"masters", m.masters},
           {"gradients", m.gradients},
           {"optimizer state", m.optimizer},
           {"batches", m.batches},
           {"activations", m.activations},
           {"recomputed block", m.backward.recomputed},
           {"loss", m.loss},
           {"loss workspace", m.loss_workspace},
           {"gradients in flight", m.backward.gradients + m.gradient_buckets},
           {"between stages", m.transfers},
           {"gathered", std::max(m.gathered, m.backward.gathered)}}};
}

/// Returns the peak bytes of one rank in each of four phases: loss, backward, update, and saving of
/// a checkpoint.
constexpr std::array<memory_line, 4> phase_lines(cost::memory const& m) {
  return {{{"loss", m.at_loss()}, {"backward", m.at_backward()}, {"update", m.at_update()}, {"saving", m.at_saving()}}};
}

/// A memory snapshot: computed bytes of each kind on a rank at one moment of a training step, such
/// as the beginning of backward. Kinds are in the order of memory_lines().
struct step_moment {
  std::string_view phase;
  std::string_view event;
  bool most = false;  ///< True if this snapshot is the peak of its phase
  std::array<std::int64_t, memory_lines({}).size()> bytes{};

  constexpr std::int64_t total() const {
    std::int64_t sum = 0;
    for (std::int64_t const n : bytes) sum += n;
    return sum;
  }
};

/// Returns the memory snapshots of a training step on a rank, in order of time.
constexpr std::array<step_moment, 7> step_moments(cost::memory const& m) {
  auto const moment = [&](std::string_view phase, std::string_view event, bool most, std::int64_t activations,
                          bool loss, bool workspace, bool backward) {
    return step_moment{phase,
                       event,
                       most,
                       {m.parameters, m.masters, m.gradients, m.optimizer, m.batches, activations,
                        backward ? m.backward.recomputed : 0, loss ? m.loss : 0, workspace ? m.loss_workspace : 0,
                        backward ? m.backward.gradients + m.gradient_buckets : 0,
                        backward          ? m.backward.transfers
                        : activations > 0 ? m.transfers
                                          : 0,
                        backward          ? m.backward.gathered
                        : activations > 0 ? m.gathered
                                          : 0}};
  };
  return {moment("forward", "begins", false, 0, false, false, false),
          moment("forward", "ends", true, m.activations, false, false, false),
          moment("loss", "holds most", true, m.activations, true, true, false),
          moment("backward", "begins", false, m.activations, true, false, false),
          moment("backward", "holds most", true, m.backward.activations, false, false, true),
          moment("backward", "ends", false, 0, false, false, false),
          {"update",
           "holds most",
           true,
           {m.parameters, m.masters, m.gradients, m.optimizer, m.batches, 0, 0, 0, 0, m.shares_workspace, 0, 0}}};
}

/// Returns the memory snapshot of a training step with the most bytes on a rank.
constexpr step_moment peak_moment(cost::memory const& m) {
  step_moment most;
  for (step_moment const& one : step_moments(m))
    if (one.total() > most.total()) most = one;
  return most;
}

/// Returns a table of the bytes of one rank over a training step: after each layer of forward, at
/// the loss, at each moment of backward, and at the update. Marks the largest total. `throughout`
/// contains the bytes that a rank holds during the whole step.
std::string timeline_text(cost::simulation const& of, cost::memory const& throughout);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/step_memory.inl.hpp>
#endif
