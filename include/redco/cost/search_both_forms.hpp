#pragma once

#include <redco/cost/search.hpp>

#include <redco/model/sequence_parallel.hpp>

namespace redco::cost::detail {

/// Merges the results of two searches: `whole`, for the model itself, and `split`, for its
/// sequence-parallel form. Takes from `split` only runs with more than one model shard.
search_result joined(search_result whole, search_result const& split);

}  // namespace redco::cost::detail

namespace redco::cost {

/// Searches for the best runs of a model and of its sequence-parallel form, whose tokens are split
/// between blocks. Throws the errors of search().
template <model M, class Optimizer>
  requires models::repeats_blocks<M> search_result search_both_forms(M const& m, Optimizer const& optimizer,
                                                                     search_space const& space, machine const& on) {
    return detail::joined(search(m, optimizer, space, on),
                          search(models::sequence_parallel<M>{m.config}, optimizer, space, on));
  }

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/search_both_forms.inl.hpp>
#endif
