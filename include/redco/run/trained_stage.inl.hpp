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
#include <utility>
#include <vector>

namespace redco::run::detail {

/// Tag of the gradients of parameters that several stages hold.
inline constexpr int shared_tag = 0;

/// Returns the tag of a message. Stages need not send micro-batches in the order in which the other
/// stage receives them.
inline int tag_of(schedule::stage_message const& as) {
  return 1 + 2 * (as.micro * shape::stage_cuts::most_chunks + as.to) + (as.from > as.to ? 1 : 0);
}

/// Throws `error` with exit code 64. `calls`: the loss function's calls of the network, as a
/// phrase.
[[noreturn]] inline void refuse_calls(char const* calls) {
  throw error(exit_code::usage, "the loss function calls the network " + std::string(calls) +
                                    ": with pipeline stages, call it exactly once, or give --n-pipeline-stages 1");
}

/// Returns the gradient of `input`, or zeros if the chunk's output does not depend on it.
inline at::Tensor gradient_of(at::Tensor const& input) {
  return input.grad().defined() ? input.grad() : at::zeros_like(input);
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE trained_stage::trained_stage(network_state const& network, rank_context& rank, schedule::step_facts& facts)
    : nn::stage_link(network.network().blocks().cuts()),
      network_(network),
      transfer_(rank),
      stages_(transfer_.stages()) {
  facts.stages = stages_.size();
  facts.stage = stages_.rank();
  facts.chunks_per_stage = network.network().blocks().chunks();
  for (int const other : {facts.stage - 1, facts.stage + 1})
    for (schedule::receipt& one : schedule::receipts_of(facts, (other + facts.stages) % facts.stages, facts.stage))
      receipts_[one.sent] = std::move(one.arrived);
}

REDCO_INLINE terms trained_stage::forward(schedule::step_op const& one, std::function<terms()> const& loss) {
  current_ = {one.chunk, one.micro};
  in_flight_[current_] = {};
  try {
    terms result = loss();
    forget_received();
    if (!now().is_called) detail::refuse_calls("not at all");
    return result;
  } catch (nn::stage_ended const&) {
    forget_received();
    return {};
  }
}

REDCO_INLINE nn::stage_tensors trained_stage::receive(nn::stage_tensors const& empty) {
  // Only the last chunk continues after a call. Without this check, it would wait for a message
  // that the preceding chunk does not send.
  if (now().is_called) detail::refuse_calls("a second time");
  receive_tensors(empty, {static_cast<std::int16_t>(current_.first - 1), current_.first, current_.second});
  empty.hidden.requires_grad_();
  if (empty.states.defined()) empty.states.requires_grad_();
  return now().input = empty;
}

REDCO_INLINE bool trained_stage::end() {
  now().is_called = true;
  if (!is_last_chunk()) throw nn::stage_ended();
  return true;
}

REDCO_INLINE void trained_stage::send_tensors(nn::stage_tensors const& all, schedule::stage_message const& as) {
  comm::collective_label const label("pipeline stages");
  sent_[as] = transfer_.send_later(all, as.to % stages_.size(), detail::tag_of(as));
}

/// Fills the tensors with those of the message `as`. Frees the tensors that the sender has received
/// before.
REDCO_INLINE void trained_stage::receive_tensors(nn::stage_tensors const& all, schedule::stage_message const& as) {
  comm::collective_label const label("pipeline stages");
  transfer_.receive(all, as.from % stages_.size(), detail::tag_of(as));
  for (schedule::stage_message const& arrived : receipts_.at(as))
    if (auto sent = sent_.extract(arrived)) wait_for(sent.mapped());
}

REDCO_INLINE void trained_stage::wait_for(std::vector<comm::ticket>& sent) {
  for (comm::ticket& one : sent) stages_.wait(one);
}

REDCO_INLINE void trained_stage::send_to_neighbour(schedule::step_op const& one) {
  chunk_and_micro const key{one.chunk, one.micro};
  micro_batch& of = in_flight_.at(key);
  schedule::stage_message const as{one.chunk, one.other, one.micro};
  if (one.other > one.chunk) {
    for (at::Tensor const& x : {of.output.hidden, of.output.states}) {
      if (!x.defined()) continue;
      auto const function = x.requires_grad() ? torch::autograd::impl::gradient_edge(x) : torch::autograd::Edge();
      bool const is_split = of.output.is_split && of.outputs.empty();  // hidden states come first
      of.outputs.push_back({function, x.sizes().vec(), x.options(), is_split, {}});
    }
    return send_tensors(std::exchange(of.output, {}), as);
  }
  nn::stage_tensors gradients{detail::gradient_of(of.input.hidden), {}, 0, of.input.is_split};
  if (of.input.states.defined()) gradients.states = detail::gradient_of(of.input.states);
  in_flight_.erase(key);
  send_tensors(gradients, as);
}

REDCO_INLINE void trained_stage::receive_gradients(schedule::step_op const& one) {
  std::vector<sent_output>& outputs = in_flight_.at({one.chunk, one.micro}).outputs;
  for (sent_output& output : outputs) output.gradient = at::empty(output.shape, output.options);
  at::Tensor const states = outputs.size() > 1 ? outputs[1].gradient : at::Tensor();
  receive_tensors({outputs[0].gradient, states, 0, outputs[0].is_split}, {one.other, one.chunk, one.micro});
}

REDCO_INLINE void trained_stage::backward(schedule::step_op const& one, at::Tensor const& loss) {
  if (loss.defined()) return add_gradient(network_, loss);
  chunk_and_micro const key{one.chunk, one.micro};
  torch::autograd::edge_list functions;
  torch::autograd::variable_list gradients;
  for (sent_output& output : std::exchange(in_flight_.at(key).outputs, {})) {
    if (!output.function.is_valid()) continue;
    functions.push_back(output.function);
    gradients.push_back(output.gradient);
  }
  if (!functions.empty())
    torch::autograd::Engine::get_default_engine().execute(functions, gradients, false, false, true);
  if (one.chunk == 0) in_flight_.erase(key);
  check_gradients(network_);
}

REDCO_INLINE void trained_stage::exchange_shared() {
  comm::collective_label const label("gradients of shared parameters");
  at::NoGradGuard const no_grad;
  for (auto& [message, sent] : sent_) wait_for(sent);
  sent_.clear();
  for (nn::stored_parameter const& p : network_.store.parameters()) {
    shape::stage_set const holders = p.plan.stages;
    if (!p.trainable || holders.count(stages_.size()) < 2) continue;
    int const first = holders.first();
    std::vector<comm::ticket> sent;
    if (stages_.rank() != first) {
      sent.push_back(stages_.send_later(p.gradient, first, detail::shared_tag));
      wait_for(sent);
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
      if (holders.has(stage)) sent.push_back(stages_.send_later(p.gradient, stage, detail::shared_tag));
    wait_for(sent);
  }
}

}  // namespace redco::run
