#pragma once

#include <redco/run/fit_work.hpp>

#include <redco/run/loss_totals.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <utility>

namespace redco::run::detail {

/// Number of batches of one shape that run normally before the next one is recorded as a graph.
inline constexpr int batches_before_recording = 2;

/// Returns a key for batches that one graph can compute: equal for batches with equal shapes,
/// strides and dtypes.
inline std::string shape_text(std::vector<at::Tensor*> const& batch, pass const& in) {
  std::string text = std::to_string(in.examples);
  for (at::Tensor const* x : batch) text += c10::str("|", x->scalar_type(), x->sizes(), x->strides());
  return text;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE void step_graphs::refuse(std::string const& why) {
  throw error(exit_code::usage, "--cuda-graph: " + why + "; leave it out");
}

REDCO_INLINE void step_graphs::check(network_state const& network, rank_context const& rank, bool several_terms) {
  if (rank.mesh.tp > 1) refuse("shards of a model exchange data during the recorded work");
  if (network.network().meets_replicas())
    refuse("batch norm communicates with the other replicas during the recorded work");
  if (network.store.has_cut_gradients()) refuse("from --zero 2 on, replicas sum gradients during the recorded work");
  if (several_terms) refuse("a loss of several terms asks the other replicas for their counts first");
}

REDCO_INLINE void step_graphs::compute(step_executor& step, computed_batches& batch, pass const& in) {
  std::vector<at::Tensor*> tensors;
  batch.each_tensor([&](at::Tensor& x) { tensors.push_back(&x); });
  for (at::Tensor const* x : tensors)
    if (x->device() != device_) refuse("a tensor of the batch is on " + x->device().str());
  recorded_batch& at = of_shape_[detail::shape_text(tensors, in)];
  if (at.computed++ < detail::batches_before_recording) return step.add(batch.loss(in));
  move_in(at, tensors);
  step_ = &step, batch_ = &batch, in_ = in;
  if (at.graph) {
    at.on_cpu.look_again();
  } else {
    record(at);
  }
  at.graph->replay();
  terms now = at.loss;
  for (std::size_t i = 0; i < now.all.size(); ++i) {
    mean& one = now.all[i].loss;
    one.sum = at.sums[static_cast<std::int64_t>(i)].clone();
    one.count = at.on_cpu.latest(one.count);
  }
  step.count(now);
}

/// Copies a batch into the tensors that the recorded graph reads, and makes the batch refer to
/// these tensors.
REDCO_INLINE void step_graphs::move_in(recorded_batch& at, std::vector<at::Tensor*> const& batch) {
  bool const first = at.tensors.empty();
  auto& copies = tensors::cpu_copies::of_thread();
  std::vector<at::Tensor> here;
  for (at::Tensor const* x : batch) here.push_back(tensors::to_cpu(*x));
  copies.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (first) at.tensors.push_back(at::empty_like(*batch[i]));
    at.tensors[i].copy_(*batch[i]);
    copies.add(at.tensors[i], here[i]);
    *batch[i] = at.tensors[i];
  }
}

REDCO_INLINE void step_graphs::record(recorded_batch& at) {
  at.sums =
      at::zeros({static_cast<std::int64_t>(loss_totals::most_terms)}, at::TensorOptions(device_).dtype(at::kDouble));
  auto graph = tensors::device_graph::maker_in_use().make(device_);
  try {
    tensors::graph_recording::scope const recording(&at.on_cpu);
    graph->record([this, &at] {
      terms loss = batch_->loss(in_);
      loss_totals::check(loss);
      step_->differentiate(loss);
      for (std::size_t i = 0; i < loss.all.size(); ++i) {
        at::Tensor& sum = loss.all[i].loss.sum;
        at.sums[static_cast<std::int64_t>(i)].copy_(sum.detach());
        sum = at::Tensor();
      }
      at.loss = std::move(loss);
    });
  } catch (c10::Error const& e) {
    refuse(std::string("the loss cannot be recorded: ") + tensors::words_of(e));
  }
  for (terms::term const& one : at.loss.all)
    if (at.on_cpu.handed_out() && at.on_cpu.count_of(one.loss.count) < 0)
      refuse(
          "the loss is made with a count that the graph would not make again: return the count of cross_entropy as it "
          "is");
  at.graph = std::move(graph);
}

}  // namespace redco::run
