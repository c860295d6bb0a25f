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

/// Forward and backward of micro-batches as graphs of a device (--cuda-graph). The first batches of each shape are computed as without:
/// libraries choose their ways then, kernels are compiled. The next is recorded, and from then on a batch of that shape is copied to
/// where the recorded one was, and the record repeated.
///
/// Host code of the loss function runs once, while the graph is recorded; only the reads of
/// look_on_host, check_on_host and count_on_host are repeated for each batch.
class step_graphs {
 public:
  /// Throws error 64 with why a run cannot be recorded.
  [[noreturn]] static void refuse(std::string const& why);

  /// What keeps a run of these options from being recorded. Errors: exit code 64.
  static void check(network_state const& network, rank_context const& rank, bool several_terms);

  explicit step_graphs(at::Device device) : device_(device) {}

  /// Loss and gradient of a micro-batch, as of `step.add(batch.loss(in))`. Errors: exit code 64 for what cannot be recorded; those
  /// of the loss function.
  void compute(step_executor& step, computed_batches& batch, pass const& in);

 private:
  struct recorded_batch {
    int computed = 0;
    std::vector<at::Tensor> tensors;  ///< where the graph reads the batch
    graph_recording host;             ///< reads of the host, repeated before each replay
    terms loss;
    at::Tensor sums;  ///< of the loss' terms, written by the graph
    std::unique_ptr<device_graph> graph;
  };

  void record(recorded_batch& at);
  void move_in(recorded_batch& at, std::vector<at::Tensor*> const& batch);

  at::Device device_;
  std::map<std::string, recorded_batch> of_shape_;

  /// What a graph computes while it is recorded.
  step_executor* step_ = nullptr;
  computed_batches* batch_ = nullptr;
  pass in_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/step_graphs.inl.hpp>
#endif
