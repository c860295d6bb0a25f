#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::nn {

/// The balance of one router: biases that change the choice of experts, and the number of tokens
/// that each expert got since the last step. Ranks that differ only along tp count equal tokens.
struct load_balance {
  stored_parameter bias;
  at::Tensor loads;  ///< Tokens of each expert in this rank's micro-batches, [experts] in f64
  double rate = 0;
};

/// Changes the biases of all routers by the tokens of a step and sets the counts to 0. Call it once
/// after each step on all ranks. One all-reduce over `ranks`, whose tokens differ, sums the counts
/// of all routers.
void update_biases(std::vector<load_balance> const& all, comm::group& ranks);

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/load_balance.inl.hpp>
#endif
