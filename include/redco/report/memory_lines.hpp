#pragma once

#include <redco/cost/memory.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace redco::report {

/// A kind of bytes and its name in all reports.
struct memory_line {
  std::string_view kind;
  std::int64_t bytes = 0;
};

/// Returns the kinds of bytes of one rank in the order of the reports.
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

/// Returns the peak bytes of one rank in each phase of a step, and while a checkpoint is saved.
constexpr std::array<memory_line, 4> phase_lines(cost::memory const& m) {
  return {{{"loss", m.at_loss()}, {"backward", m.at_backward()}, {"update", m.at_update()}, {"saving", m.at_saving()}}};
}

}  // namespace redco::report
