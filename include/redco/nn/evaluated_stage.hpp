#pragma once

#include <redco/nn/stage_link.hpp>
#include <redco/comm/group.hpp>
#include <redco/shape/stage_cuts.hpp>

namespace redco::nn {

/// The connection of a rank's network to other pipeline stages in one call without gradients, such
/// as evaluation or decoding. The call runs the stage's chunks in order, and gives the model's
/// output to all stages. All stages must make the same calls.
class evaluated_stage final : public stage_link {
 public:
  /// `stages`: the group of the ranks along the mesh axis pp.
  evaluated_stage(shape::stage_cuts const& cuts, comm::group& stages)
      : stage_link(cuts), blocks_(cuts, stages.rank()), stages_(stages) {}

  bool end() override { return ++done_ == blocks_.chunks(); }
  comm::group* sharing() const override { return &stages_; }

 private:
  stage_tensors receive(stage_tensors const& empty) override {
    stages_.recv(empty.hidden, stage_before(), chunk());
    if (empty.states.defined()) stages_.recv(empty.states, stage_before(), chunk());
    return empty;
  }

  /// Sends the results to the next chunk, whose index is the tag of the messages.
  void send(stage_tensors const& results) override {
    stages_.send(results.hidden, stage_after(), chunk() + 1);
    if (results.states.defined()) stages_.send(results.states, stage_after(), chunk() + 1);
  }

  int next_chunk() const override { return blocks_.chunk(done_); }

  shape::stage_blocks blocks_;
  comm::group& stages_;
  int done_ = 0;  ///< Number of chunks that this call has run
};

}  // namespace redco::nn
