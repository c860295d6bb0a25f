#pragma once

#include <redco/run/network_state.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/ticket.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/schedule/step_of.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace redco::run {

/// The pipeline stage of one rank during a training step: sends hidden states of micro-batches to the next
/// stage and their gradients to the preceding one, and keeps what backward needs of the
/// micro-batches in flight. A step calls its members in the order of the schedule.
///
/// Each rank exchanges tensors with the ranks of its tensor-parallel index and replica.
class trained_stage final : public nn::stage_link {
 public:
  /// `network` must be a pipeline stage, and outlive this object. Sets the number of stages and this
  /// stage's index in `facts`.
  trained_stage(network_state const& network, rank_context& rank, schedule::step_facts& facts);

  /// Runs forward of a micro-batch by `loss`, which calls the network once. Returns its result on the
  /// last stage, and a loss without terms on other stages. Throws `error` with exit code 64 unless
  /// `loss` calls the network exactly once.
  terms forward(std::int32_t micro, std::function<terms()> const& loss);

  /// Sends the hidden states of a micro-batch to the next stage, or their gradients to the preceding
  /// one if `backward` is true. Does not wait for the receiver.
  void send_to_neighbour(std::int32_t micro, bool backward);

  /// Waits for the gradients of the hidden states that this stage sent for a micro-batch.
  void receive_gradients(std::int32_t micro);

  /// Runs backward of a micro-batch from `loss`, the scalar of the last stage; other stages ignore it
  /// and start at the received gradients. Adds the gradients of parameters to the flat gradient.
  void backward(std::int32_t micro, at::Tensor const& loss);

  /// Waits until the messages of the step are sent. Then adds up the gradients of parameters that
  /// several stages hold, in the order of the stages, so that all of these stages have the sum. Call
  /// it after the sum over the replicas.
  void exchange_shared();

  void end() override;
  comm::group* sharing() const override { return nullptr; }

 private:
  /// The tensors of a micro-batch between its forward and its backward.
  struct micro_batch {
    nn::stage_tensors input, output;     ///< received and sent in forward
    nn::stage_tensors output_gradients;  ///< received in backward
    int calls = 0;                       ///< number of calls of the network
  };

  nn::stage_tensors receive(nn::stage_tensors const& empty) override;
  void send(nn::stage_tensors const& results) override { now().output = results; }
  micro_batch& now() { return in_flight_.at(current_); }
  void send_tensors(nn::stage_tensors const& all, int peer);
  void receive_tensors(nn::stage_tensors const& all, int peer);

  network_state const& network_;
  comm::group& stages_;  ///< ranks along the mesh axis pp
  std::int32_t current_ = 0;
  std::map<std::int32_t, micro_batch> in_flight_;
  std::vector<comm::ticket> sent_;  ///< messages of the step whose tensors may be in use
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/trained_stage.inl.hpp>
#endif
