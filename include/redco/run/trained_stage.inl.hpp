#pragma once

#include <redco/run/trained_stage.hpp>

#include <redco/run/loss_totals.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/place.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::run::detail {

/// Tag of the gradients of parameters that several stages hold.
inline constexpr int shared_tag = 0;

/// Returns the tag of the messages from one chunk to another for a micro-batch. Stages need not
/// send micro-batches in the order in which the other stage receives them.
inline int tag_of(int from_chunk, int to_chunk, std::int32_t micro) {
  return 1 + 2 * (micro * shape::stage_cuts::most_chunks + to_chunk) + (from_chunk > to_chunk ? 1 : 0);
}

/// Returns the gradient of `input`, or zeros if the chunk's output does not depend on it.
inline at::Tensor gradient_of(at::Tensor const& input) {
  return input.grad().defined() ? input.grad() : at::zeros_like(input);
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE trained_stage::trained_stage(network_state const& network, rank_context& rank, schedule::step_facts& facts)
    : nn::stage_link(network.network().blocks().cuts()), network_(network), stages_(rank.group(shape::axis::pp)) {
  facts.stages = stages_.size();
  facts.stage = stages_.rank();
  facts.chunks_per_stage = network.network().blocks().chunks();
}

REDCO_INLINE terms trained_stage::forward(schedule::step_op const& one, std::function<terms()> const& loss) {
  current_ = {one.chunk, one.micro};
  in_flight_[current_] = {};
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
  receive_tensors(empty, current_.first - 1, current_);
  empty.hidden.requires_grad_();
  if (empty.states.defined()) empty.states.requires_grad_();
  return now().input = empty;
}

REDCO_INLINE bool trained_stage::end() {
  ++now().calls;
  if (!is_last_chunk()) throw nn::stage_ended();
  return true;
}

/// Sends the tensors of `all` to the chunk at the other end of the operation `one`.
REDCO_INLINE void trained_stage::send_tensors(nn::stage_tensors const& all, schedule::step_op const& one) {
  comm::collective_label const label("pipeline stages");
  int const peer = one.other % stages_.size(), tag = detail::tag_of(one.chunk, one.other, one.micro);
  sent_.push_back(stages_.send_later(all.hidden, peer, tag));
  if (all.states.defined()) sent_.push_back(stages_.send_later(all.states, peer, tag));
}

/// Fills the tensors of `all` with those that one chunk sent to another for a micro-batch.
REDCO_INLINE void trained_stage::receive_tensors(nn::stage_tensors const& all, int from_chunk,
                                                 chunk_and_micro const& to) {
  comm::collective_label const label("pipeline stages");
  int const peer = from_chunk % stages_.size(), tag = detail::tag_of(from_chunk, to.first, to.second);
  stages_.recv(all.hidden, peer, tag);
  if (all.states.defined()) stages_.recv(all.states, peer, tag);
}

REDCO_INLINE void trained_stage::send_to_neighbour(schedule::step_op const& one) {
  chunk_and_micro const key{one.chunk, one.micro};
  micro_batch& of = in_flight_.at(key);
  if (one.other > one.chunk) return send_tensors(of.output, one);
  nn::stage_tensors gradients{detail::gradient_of(of.input.hidden), {}};
  if (of.input.states.defined()) gradients.states = detail::gradient_of(of.input.states);
  send_tensors(gradients, one);
  in_flight_.erase(key);
}

REDCO_INLINE void trained_stage::receive_gradients(schedule::step_op const& one) {
  micro_batch& of = in_flight_.at({one.chunk, one.micro});
  of.output_gradients.hidden = at::empty_like(of.output.hidden);
  if (of.output.states.defined()) of.output_gradients.states = at::empty_like(of.output.states);
  receive_tensors(of.output_gradients, one.other, {one.chunk, one.micro});
}

REDCO_INLINE void trained_stage::backward(schedule::step_op const& one, at::Tensor const& loss) {
  chunk_and_micro const key{one.chunk, one.micro};
  micro_batch& of = in_flight_.at(key);
  if (loss.defined()) return add_gradient(network_, loss);
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
  if (one.chunk == 0) in_flight_.erase(key);
  check_gradients(network_);
}

REDCO_INLINE void trained_stage::wait_for_sent() {
  for (comm::ticket& one : sent_) stages_.wait(one);
  sent_.clear();
}

REDCO_INLINE void trained_stage::exchange_shared() {
  comm::collective_label const label("gradients of shared parameters");
  at::NoGradGuard const no_grad;
  wait_for_sent();
  for (nn::stored_parameter const& p : network_.store.parameters()) {
    shape::stage_set const holders = p.plan.stages;
    if (!p.trainable || holders.count(stages_.size()) < 2) continue;
    int const first = holders.first();
    if (stages_.rank() != first) {
      sent_.push_back(stages_.send_later(p.gradient, first, detail::shared_tag));
      wait_for_sent();
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
    wait_for_sent();
  }
}

}  // namespace redco::run
