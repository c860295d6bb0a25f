#pragma once

#include <redco/run/network_state.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/nn/stage_transfer.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/ticket.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/schedule/receipts.hpp>
#include <redco/schedule/step_of.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace redco::run {

/// The pipeline stage of one rank during a training step. It sends hidden states of micro-batches
/// to the next stage and their gradients to the preceding one. It keeps what backward needs of the
/// micro-batches in flight. A step calls its members with its operations, in the order of the
/// schedule.
///
/// Each rank exchanges tensors with the ranks of its tensor-parallel index and replica. A sent
/// tensor is freed as soon as a message from its receiver shows that the tensor has arrived.
/// Backward of a micro-batch does not need the hidden states that its forward sent.
class trained_stage final : public nn::stage_link {
 public:
  /// `network` must be a pipeline stage, and outlive this object. Sets the numbers of stages and
  /// chunks and this stage's index in `facts`.
  trained_stage(network_state const& network, rank_context& rank, schedule::step_facts& facts);

  /// Runs forward of a chunk by `loss`, which calls the network once. Returns its result for the
  /// model's last chunk, and a loss without terms for other chunks. Throws `error` with exit code
  /// 64 unless `loss` calls the network exactly once.
  terms forward(schedule::step_op const& one, std::function<terms()> const& loss);

  /// Sends the hidden states of a micro-batch to the next chunk, or their gradients to the
  /// preceding one. Does not wait for the receiver.
  void send_to_neighbour(schedule::step_op const& one);

  /// Waits for the gradients of the hidden states that a chunk sent for a micro-batch.
  void receive_gradients(schedule::step_op const& one);

  /// Runs backward of a chunk from `loss`, the scalar of the model's last chunk; other chunks
  /// ignore it and start at the received gradients. Adds the gradients of parameters to the flat
  /// gradient.
  void backward(schedule::step_op const& one, at::Tensor const& loss);

  /// Waits until the messages of the step are sent. Then adds up the gradients of parameters that
  /// several stages hold, in the order of the stages, so that all of these stages have the sum.
  /// Call it after the sum over the replicas.
  void exchange_shared();

  bool end() override;
  comm::group* sharing() const override { return nullptr; }

 private:
  /// A tensor that forward sent, without its elements: its function in the autograd graph (none if
  /// it needs no gradient), shape and options. `is_split`: true if each shard sent its own part.
  /// `gradient`: received in backward.
  struct sent_output {
    torch::autograd::Edge function;
    std::vector<std::int64_t> shape;
    at::TensorOptions options;
    bool is_split = false;
    at::Tensor gradient;
  };

  /// The tensors of a micro-batch between forward and backward of a chunk.
  struct micro_batch {
    nn::stage_tensors input;           ///< received in forward
    nn::stage_tensors output;          ///< computed in forward and not sent
    std::vector<sent_output> outputs;  ///< sent in forward: hidden states, and the encoder's states
    bool is_called = false;            ///< true after the call of the network
  };
  using chunk_and_micro = std::pair<std::int16_t, std::int32_t>;

  nn::stage_tensors receive(nn::stage_tensors const& empty) override;
  void send(nn::stage_tensors const& results) override { now().output = results; }
  int next_chunk() const override { return current_.first; }
  micro_batch& now() { return in_flight_.at(current_); }
  void send_tensors(nn::stage_tensors const& all, schedule::stage_message const& as);
  void receive_tensors(nn::stage_tensors const& all, schedule::stage_message const& as);
  void wait_for(std::vector<comm::ticket>& sent);

  network_state const& network_;
  nn::stage_transfer transfer_;
  comm::group& stages_;  ///< ranks along the mesh axis pp
  chunk_and_micro current_;
  std::map<chunk_and_micro, micro_batch> in_flight_;
  /// Messages of the step whose tensors may be in use
  std::map<schedule::stage_message, std::vector<comm::ticket>> sent_;
  /// For each message from another stage, the messages to that stage that have arrived before
  std::map<schedule::stage_message, std::vector<schedule::stage_message>> receipts_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/trained_stage.inl.hpp>
#endif
