#pragma once

#include <redco/nn/check_saved.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/model.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/stage_edge.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace redco::nn::detail {

/// Returns the shapes on one rank of the tensors that pass the cut `edge`, in the dtype and on the
/// device of `store`.
inline stage_shapes shapes_of(fact::stage_edge const& edge, parameter_store const& store, int shards) {
  auto const local = [&](fact::flow const& flow) {
    extents const all = cost::local_extents(flow, shards);
    return std::vector<std::int64_t>(all.size.data(), all.size.data() + all.rank);
  };
  stage_shapes shapes{.hidden = local(edge.hidden),
                      .tokens = edge.hidden.shape.rank > 1 ? edge.hidden.shape[1] : 0,
                      .is_split = edge.hidden.split_dim >= 0};
  if (edge.has_states()) shapes.states = local(edge.states);
  shapes.options = at::TensorOptions(store.device()).dtype(tensors::scalar_type_of(store.compute()));
  return shapes;
}

/// Returns the shapes of the tensors that pass the cut before block `block` in a call on `input`
/// (whole sequences) and the encoder's input `source` (undefined without encoder). `facts`: the
/// model's program for the call; the first use computes it.
template <model M>
stage_shapes stage_shapes_at(std::optional<fact::program>& facts, M const& m, parameter_store const& store,
                             pass const& in, std::int64_t block, at::Tensor const& input, at::Tensor const& source) {
  if (!facts) facts = shard::facts_of(m, setup_of_pass(store, in, input, source).rank_load());
  return shapes_of(fact::stage_edge_at(*facts, block), store, in.tp->size());
}

}  // namespace redco::nn::detail
