#pragma once

#include <redco/nn/stage_link.hpp>

#include <redco/tensor/describe.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::nn {

REDCO_INLINE void stage_link::check_hidden(at::Tensor const& hidden) const {
  std::vector<std::int64_t> const declared = shapes_(blocks().end).hidden;
  if (hidden.sizes().equals(declared)) return;
  throw error(exit_code::usage,
              "the hidden states after block " + std::to_string(blocks().end - 1) + " have the shape " +
                  tensors::describe(hidden.sizes()) + ", and the layers declare " + tensors::describe(declared) +
                  ": with pipeline stages, an opaque layer must keep the shape of its input; write it as a layer type "
                  "that declares its output, or give --n-pipeline-stages 1");
}

}  // namespace redco::nn

namespace redco::nn::detail {

REDCO_INLINE rank_context const& rank_on_stages(pass const& in) {
  if (in.rank == nullptr)
    throw error(exit_code::internal,
                "a pass without the rank's groups calls a network with pipeline stages: make it with evaluation_pass");
  if (in.training || at::GradMode::is_enabled())
    throw error(exit_code::usage,
                "a network with pipeline stages is called with gradients outside of a trainer's loss function: train "
                "it by a trainer, or give --n-pipeline-stages 1");
  return *in.rank;
}

REDCO_INLINE void refuse_on_stage(char const* member) {
  throw error(exit_code::usage, std::string(member) +
                                    " with pipeline stages: a stage has a part of the parameters, and gradients pass "
                                    "between stages in the call of the trained network only; give "
                                    "--n-pipeline-stages 1");
}

}  // namespace redco::nn::detail
