#pragma once

#include <redco/run/trained_stage.hpp>

#include <redco/run/loss_totals.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/shape/axis.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>
#include <vector>

namespace redco::run::detail {

// Tags of the messages between stages. Tensors of one direction are sent and received in the order
// of the schedule.
inline constexpr int states_tag = 0;
inline constexpr int shared_tag = 1;

/// Returns the gradient of `input`, or zeros if the stage's output does not depend on it.
inline at::Tensor gradient_of(at::Tensor const& input) {
  return input.grad().defined() ? input.grad() : at::zeros_like(input);
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE trained_stage::trained_stage(network_state const& network, rank_context& rank, schedule::step_facts& facts)
    : nn::stage_link(network.network().blocks(), rank.coordinate(shape::axis::pp) + 1 == rank.mesh.pp),
      network_(network),
      stages_(rank.group(shape::axis::pp)) {
  facts.stages = stages_.size();
  facts.stage = stages_.rank();
}

REDCO_INLINE void trained_stage::send_tensors(nn::stage_tensors const& all, int peer) {
  comm::collective_label const label("pipeline stages");
  sent_.push_back(stages_.send_later(all.hidden, peer, detail::states_tag));
  if (all.states.defined()) sent_.push_back(stages_.send_later(all.states, peer, detail::states_tag));
}

/// Fills the tensors of `all` with those that `peer` sent.
REDCO_INLINE void trained_stage::receive_tensors(nn::stage_tensors const& all, int peer) {
  comm::collective_label const label("pipeline stages");
  stages_.recv(all.hidden, peer, detail::states_tag);
  if (all.states.defined()) stages_.recv(all.states, peer, detail::states_tag);
}

REDCO_INLINE terms trained_stage::forward(std::int32_t micro, std::function<terms()> const& loss) {
  current_ = micro;
  in_flight_[micro] = {};
  try {
    terms result = loss();
    if (now().calls == 1) return result;
    throw error(exit_code::usage, "the loss function calls the network " + std::to_string(now().calls) +
                                      " times: with pipeline stages, call it exactly once, or give "
                                      "--n-pipeline-stages 1");
  } catch (nn::stage_ended const&) {
    return {};
  }
}

REDCO_INLINE nn::stage_tensors trained_stage::receive(nn::stage_tensors const& empty) {
  receive_tensors(empty, stages_.rank() - 1);
  empty.hidden.requires_grad_();
  if (empty.states.defined()) empty.states.requires_grad_();
  return now().input = empty;
}

REDCO_INLINE void trained_stage::end() {
  ++now().calls;
  if (!is_last()) throw nn::stage_ended();
}

REDCO_INLINE void trained_stage::send_to_neighbour(std::int32_t micro, bool backward) {
  micro_batch& of = in_flight_.at(micro);
  if (!backward) return send_tensors(of.output, stages_.rank() + 1);
  nn::stage_tensors gradients{detail::gradient_of(of.input.hidden), {}};
  if (of.input.states.defined()) gradients.states = detail::gradient_of(of.input.states);
  send_tensors(gradients, stages_.rank() - 1);
  in_flight_.erase(micro);
}

REDCO_INLINE void trained_stage::receive_gradients(std::int32_t micro) {
  micro_batch& of = in_flight_.at(micro);
  of.output_gradients.hidden = at::empty_like(of.output.hidden);
  if (of.output.states.defined()) of.output_gradients.states = at::empty_like(of.output.states);
  receive_tensors(of.output_gradients, stages_.rank() + 1);
}

REDCO_INLINE void trained_stage::backward(std::int32_t micro, at::Tensor const& loss) {
  if (is_last()) return add_gradient(network_, loss);
  micro_batch& of = in_flight_.at(micro);
  std::vector<at::Tensor> outputs, gradients;
  auto const add = [&](at::Tensor const& output, at::Tensor const& gradient) {
    if (!output.defined() || !output.requires_grad()) return;
    outputs.push_back(output);
    gradients.push_back(gradient);
  };
  add(of.output.hidden, of.output_gradients.hidden);
  add(of.output.states, of.output_gradients.states);
  if (!outputs.empty()) torch::autograd::backward(outputs, gradients);
  of.output = of.output_gradients = {};
  if (stages_.rank() == 0) in_flight_.erase(micro);
  check_gradients(network_);
}

REDCO_INLINE void trained_stage::exchange_shared() {
  comm::collective_label const label("gradients of shared parameters");
  at::NoGradGuard const no_grad;
  for (comm::ticket& one : sent_) stages_.wait(one);
  sent_.clear();
  for (nn::stored_parameter const& p : network_.store.parameters()) {
    shape::stage_set const holders = p.plan.stages;
    if (!p.trainable || holders.count(stages_.size()) < 2) continue;
    int const first = holders.first();
    if (stages_.rank() != first) {
      comm::ticket sent = stages_.send_later(p.gradient, first, detail::shared_tag);
      stages_.wait(sent);
      stages_.recv(p.gradient, first, detail::shared_tag);
      continue;
    }
    at::Tensor const other = at::empty_like(p.gradient);
    for (int stage = first + 1; stage < stages_.size(); ++stage) {
      if (!holders.has(stage)) continue;
      stages_.recv(other, stage, detail::shared_tag);
      at::Tensor(p.gradient).add_(other);
    }
    for (int stage = first + 1; stage < stages_.size(); ++stage)
      if (holders.has(stage)) sent_.push_back(stages_.send_later(p.gradient, stage, detail::shared_tag));
    for (comm::ticket& one : sent_) stages_.wait(one);
    sent_.clear();
  }
}

}  // namespace redco::run
