#pragma once

#include <redco/optimizer/state_slots.hpp>

#include <utility>

namespace redco::optimizer {

/// An optimizer rule `Rule` that also keeps an exponential moving average of the parameters in the
/// state slot "average". After each update, average += (1 - average_decay) (p - average). The first
/// update sets it to `p`. Equals torch's AveragedModel with get_ema_multi_avg_fn.
///
///   redco::optimizer::averaged rule(redco::adamw{.lr = 3e-4}, 0.999);
template <class Rule>
struct averaged : Rule {
  using averaged_rule = Rule;

  double average_decay;
  /// True if evaluations, predictions and `save_model` of a trainer use the average. Checkpoints
  /// hold both.
  bool evaluates_average;

  constexpr explicit averaged(Rule rule, double decay = 0.999, bool evaluates = true)
      : Rule(std::move(rule)), average_decay(decay), evaluates_average(evaluates) {}

  constexpr slot_list slots() const { return with_average(state_slots(static_cast<Rule const&>(*this))); }
  constexpr slot_list matrix_slots() const {
    return with_average(optimizer::matrix_slots(static_cast<Rule const&>(*this)));
  }

 private:
  static constexpr slot_list with_average(slot_list slots) {
    slots.push_back("average");
    return slots;
  }
};

}  // namespace redco::optimizer
