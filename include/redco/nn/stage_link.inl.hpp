#pragma once

#include <redco/nn/stage_link.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

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
