#pragma once

#include <redco/cost/memory.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace redco::report {

/// A number of bytes with the name of its kind, such as "activations", as used in all reports.
struct memory_line {
  std::string_view kind;
  std::int64_t bytes = 0;
};

/// Returns the bytes of one rank by kind, such as parameters and activations, in the order in which
/// reports list them.
constexpr std::array<memory_line, 10> memory_lines(cost::memory const& m) {
  return {{{"parameters", m.parameters},
           {"masters", m.masters},
           {"gradients", m.gradients},
           {"optimizer state", m.optimizer},
           {"batches", m.batches},
           {"activations", m.activations},
           {"recomputed block", m.backward.recomputed},
           {"loss", m.loss},
           {"loss workspace", m.loss_workspace},
           {"gradients in flight", m.backward.gradients}}};
}

/// Returns the peak bytes of one rank in each of four phases: loss, backward, update, and saving of
/// a checkpoint.
constexpr std::array<memory_line, 4> phase_lines(cost::memory const& m) {
  return {{{"loss", m.at_loss()}, {"backward", m.at_backward()}, {"update", m.at_update()}, {"saving", m.at_saving()}}};
}

}  // namespace redco::report
