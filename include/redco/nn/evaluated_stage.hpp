#pragma once

#include <redco/nn/stage_link.hpp>
#include <redco/nn/stage_transfer.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/shape/stage_cuts.hpp>

namespace redco::nn {

/// The connection of a rank's network to other pipeline stages in one call without gradients, such
/// as evaluation or decoding. The call runs the stage's chunks in order, and gives the model's
/// output to all stages. All stages must make the same calls.
class evaluated_stage final : public stage_link {
 public:
  evaluated_stage(shape::stage_cuts const& cuts, rank_context const& rank)
      : stage_link(cuts), transfer_(rank), blocks_(cuts, transfer_.stages().rank()) {}

  bool end() override { return ++done_ == blocks_.chunks(); }
  comm::group* sharing() const override { return &transfer_.stages(); }

 private:
  stage_tensors receive(stage_tensors const& empty) override {
    transfer_.receive(empty, stage_before(), chunk());
    return empty;
  }

  /// Sends the results to the next chunk, whose index is the tag of the messages.
  void send(stage_tensors const& results) override { transfer_.send(results, stage_after(), chunk() + 1); }

  int next_chunk() const override { return blocks_.chunk(done_); }

  stage_transfer transfer_;
  shape::stage_blocks blocks_;
  int done_ = 0;  ///< Number of chunks that this call has run
};

}  // namespace redco::nn
