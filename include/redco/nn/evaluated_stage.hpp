#pragma once

#include <redco/nn/stage_link.hpp>
#include <redco/comm/group.hpp>
#include <redco/shape/blocks.hpp>

namespace redco::nn {

/// The connection of a rank's network to other pipeline stages in one call without gradients, such
/// as evaluation or decoding. The call gives the model's output to all stages. All stages must make
/// the same calls.
class evaluated_stage final : public stage_link {
 public:
  /// `stages`: the group of the ranks along the mesh axis pp.
  evaluated_stage(shape::block_range const& blocks, comm::group& stages)
      : stage_link(blocks, stages.rank() + 1 == stages.size()), stages_(stages) {}

  void end() override {}
  comm::group* sharing() const override { return &stages_; }

 private:
  stage_tensors receive(stage_tensors const& empty) override {
    stages_.recv(empty.hidden, stages_.rank() - 1);
    if (empty.states.defined()) stages_.recv(empty.states, stages_.rank() - 1);
    return empty;
  }

  void send(stage_tensors const& results) override {
    stages_.send(results.hidden, stages_.rank() + 1);
    if (results.states.defined()) stages_.send(results.states, stages_.rank() + 1);
  }

  comm::group& stages_;
};

}  // namespace redco::nn
