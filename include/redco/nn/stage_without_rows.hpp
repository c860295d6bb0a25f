#pragma once

#include <redco/nn/stage_link.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/stage_cuts.hpp>

namespace redco::nn {

/// The connection of a pipeline stage in a call with 0 rows, which a rank makes only because its
/// experts compute the rows of other ranks. One call runs one chunk, and exchanges nothing with
/// other stages.
class stage_without_rows final : public stage_link {
 public:
  stage_without_rows(shape::stage_cuts const& cuts, int chunk) : stage_link(cuts), chunk_(chunk) {}

  bool end() override { return true; }
  comm::group* sharing() const override { return nullptr; }

  /// Returns the sum of the hidden states after the chunk; undefined for the model's last chunk.
  at::Tensor sum() const { return sent_.hidden.defined() ? sent_.hidden.sum() : at::Tensor(); }

 private:
  stage_tensors receive(stage_tensors const& empty) override {
    for (at::Tensor const& x : {empty.hidden, empty.states})
      if (x.defined() && at::GradMode::is_enabled()) x.requires_grad_();
    return empty;
  }
  void send(stage_tensors const& results) override { sent_ = results; }
  int next_chunk() const override { return chunk_; }

  int chunk_;
  stage_tensors sent_;
};

}  // namespace redco::nn
