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
#include <redco/fact/stage_edge.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::nn::detail {

/// Returns empty tensors like those that cross a cut of the model on one rank, in the dtype and on
/// the device of `store`.
inline stage_tensors empty_tensors(fact::stage_edge const& edge, parameter_store const& store, int shards) {
  auto const options = at::TensorOptions(store.device()).dtype(tensors::scalar_type_of(store.compute()));
  auto const like = [&](fact::flow const& flow) {
    extents const local = cost::local_extents(flow, shards);
    return at::empty(at::IntArrayRef(local.size.data(), static_cast<std::size_t>(local.rank)), options);
  };
  std::int64_t const tokens = edge.hidden.shape.rank > 1 ? edge.hidden.shape[1] : 0;
  stage_tensors empty{like(edge.hidden), {}, tokens, edge.hidden.split_dim >= 0};
  if (edge.has_states()) empty.states = like(edge.states);
  return empty;
}

/// Returns empty tensors like those that the preceding pipeline stage sends in a call on `input`
/// and the encoder's input `source` (undefined without encoder). The chunk of the stage begins with
/// block `block`.
template <model M>
stage_tensors stage_input(M const& m, parameter_store const& store, pass const& in, std::int64_t block,
                          at::Tensor const& input, at::Tensor const& source) {
  workload const load = setup_of_pass(store, in, input, source).load;
  return empty_tensors(fact::stage_edge_at(shard::facts_of(m, load), block), store, in.tp->size());
}

}  // namespace redco::nn::detail
