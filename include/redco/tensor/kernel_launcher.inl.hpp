#pragma once

#include <redco/tensor/kernel_launcher.hpp>

#include <redco/config.hpp>

#include <atomic>

namespace redco::tensors::detail {

/// Returns the launcher compiled_kernels::of_process(). Only declared here: compiled_kernels
/// derives from kernel_launcher, so the definition is in a later header.
REDCO_INLINE kernel_launcher& compiled_launcher();

inline std::atomic<kernel_launcher*>& forced_launcher_cell() {
  static std::atomic<kernel_launcher*> launcher = nullptr;
  return launcher;
}

}  // namespace redco::tensors::detail

namespace redco::tensors {

REDCO_INLINE kernel_launcher& kernel_launcher::in_use() {
  kernel_launcher* const forced = detail::forced_launcher_cell().load(std::memory_order_relaxed);
  return forced != nullptr ? *forced : detail::compiled_launcher();
}

REDCO_INLINE kernel_launcher::forced::forced(kernel_launcher& launcher)
    : before_(detail::forced_launcher_cell().exchange(&launcher)) {}

REDCO_INLINE kernel_launcher::forced::~forced() { detail::forced_launcher_cell().store(before_); }

}  // namespace redco::tensors

#include <redco/tensor/compiled_kernels.hpp>
