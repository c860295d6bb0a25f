#pragma once

#include <redco/update/detail/update_by.hpp>
#include <redco/update/detail/update_elements.hpp>
#include <redco/update/segment.hpp>

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/optimizer/optimizer_description.hpp>

#include <cstdint>

namespace redco::update {

/// Satisfied by a user's own optimizer type with an `update` member function. The function receives
/// a segment (parameters in flat buffers) whose gradient is already divided and clipped. It changes
/// segment::param and segment::slots in place. redco then updates segment::compute.
template <class D>
concept updating_optimizer = optimizer::optimizer_description<D> && requires(D const& d, segment& s) {
  d.update(s, 0.0, std::int64_t{1});
};

/// Satisfied by an optimizer description (a type with hyper-parameters) that has an update rule.
/// The rule is either redco's own or an `update` member function of the type.
template <class D>
concept optimizer = optimizer::optimizer_description<D> &&
    (updating_optimizer<D> || requires(D const& d, segment& s) { detail::update_by(d, s, 0.0, std::int64_t{1}, 1.0); });

}  // namespace redco::update

namespace redco::update::detail {

/// Updates segment `s` at the rate `rate`, after its check. See update::update.
template <class Description>
void apply(Description const& description, segment& s, double rate, std::int64_t step, double grad_scale,
           rank_context* on) {
  if constexpr (requires { typename Description::averaged_rule; }) {
    segment without = s;
    without.slots.pop_back();
    apply(static_cast<typename Description::averaged_rule const&>(description), without, rate, step, grad_scale, on);
    at::NoGradGuard const no_grad;
    s.slots.back().lerp_(s.param, step == 1 ? 1 : 1 - description.average_decay);
  } else if constexpr (updating_optimizer<Description>) {
    at::NoGradGuard const no_grad;
    if (grad_scale != 1) s.grad.mul_(grad_scale);
    description.update(s, rate, step);
    if (s.compute.defined()) s.compute.copy_(s.param);
  } else if constexpr (requires { update_by(description, s, rate, step, grad_scale, on); }) {
    update_by(description, s, rate, step, grad_scale, on);
  } else {
    update_by(description, s, rate, step, grad_scale);
  }
}

}  // namespace redco::update::detail

namespace redco::update {

/// Executes the optimizer update number `step` (1, 2, ...) of segment `s` at the rate lr * s.rate.
/// Multiplies the gradient by `grad_scale` (the clip factor divided by the step's loss weight).
/// Then updates optimizer state, master parameters and their bf16 copy, in one pass over memory.
/// The result is bit-equal for any partition into segments, threads or shards. `on` is the rank, if
/// it holds parts of parameters that the optimizer updates as a whole.
///
/// Throws `error` with exit code 70 if the segment breaks the requirements of segment.hpp. Requires
/// step >= 1.
template <optimizer Description>
void update(Description const& description, segment& s, double lr, std::int64_t step, double grad_scale = 1,
            rank_context* on = nullptr) {
  detail::check_segment(s, slots_of(description, s));
  detail::apply(description, s, lr * s.rate, step, grad_scale, on);
}

}  // namespace redco::update
