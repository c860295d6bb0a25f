#pragma once

#include <redco/update/detail/update_by.hpp>
#include <redco/update/optimizer.hpp>
#include <redco/update/segment.hpp>

#include <redco/optimizer/state_slots.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::update {

/// Executes the optimizer update number `step` (1, 2, ...) of segment `s` at the rate lr * s.rate.
/// Multiplies the gradient by `grad_scale` (the clip factor divided by the step's loss weight).
/// Then updates optimizer state, master parameters and their bf16 copy, in one pass over memory.
/// The result is bit-equal for any partition into segments, threads or shards.
///
/// Throws `error` with exit code 70 if the segment breaks the requirements of segment.hpp. Requires
/// step >= 1.
template <optimizer Description>
void update(Description const& description, segment& s, double lr, std::int64_t step, double grad_scale = 1) {
  detail::check_segment(s, optimizer::state_slots(description).size());
  if constexpr (updating_optimizer<Description>) {
    at::NoGradGuard const no_grad;
    if (grad_scale != 1) s.grad.mul_(grad_scale);
    description.update(s, lr * s.rate, step);
    if (s.compute.defined()) s.compute.copy_(s.param);
  } else {
    detail::update_by(description, s, lr * s.rate, step, grad_scale);
  }
}

}  // namespace redco::update
