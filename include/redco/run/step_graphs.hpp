#pragma once

#include <redco/run/computed_batches.hpp>
#include <redco/run/step.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/graph_recording.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace redco::run {

/// Device graphs (--cuda-graph) that replay forward and backward of micro-batches. The first
/// batches of each shape run normally, while libraries choose algorithms and compile kernels. The
/// next batch is recorded. Later batches are copied into the recorded batch's tensors, and the
/// graph is replayed. Host code of the loss function runs only while recording, except for calls of
/// look_on_host, check_on_host and count_on_host, which are repeated for each batch.
class step_graphs {
 public:
  /// Throws `error` with exit code 64. `why`: the reason why a run cannot be recorded as a device
  /// graph.
  [[noreturn]] static void refuse(std::string const& why);

  /// Throws `error` with exit code 64 if a run cannot be recorded as a device graph: because of
  /// tensor parallelism, batch norm, or a loss of several terms.
  static void check(network_state const& network, rank_context const& rank, bool several_terms);

  explicit step_graphs(at::Device device) : device_(device) {}

  /// Computes a micro-batch and adds its loss and gradients to the step, as
  /// `step.add(batch.loss(in))` does, but by replaying a graph where possible. Throws `error` with
  /// exit code 64 if the micro-batch cannot be recorded, and the errors of the loss function.
  void compute(step_executor& step, computed_batches& batch, pass const& in);

 private:
  struct recorded_batch {
    int computed = 0;
    std::vector<at::Tensor> tensors;  ///< tensors from which the graph reads the batch
    tensors::graph_recording host;    ///< functions on the host that are called before each replay
    terms loss;
    at::Tensor sums;  ///< sums of the loss terms, which the graph computes
    std::unique_ptr<tensors::device_graph> graph;
  };

  void record(recorded_batch& at);
  void move_in(recorded_batch& at, std::vector<at::Tensor*> const& batch);

  at::Device device_;
  std::map<std::string, recorded_batch> of_shape_;

  /// Arguments of the compute() call in progress, for record(): the step, the micro-batch and the
  /// pass (settings of a forward call).
  step_executor* step_ = nullptr;
  computed_batches* batch_ = nullptr;
  pass in_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/step_graphs.inl.hpp>
#endif
