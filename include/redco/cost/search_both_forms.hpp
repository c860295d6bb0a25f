#pragma once

#include <redco/cost/search.hpp>

#include <redco/model/sequence_parallel.hpp>

namespace redco::cost {

namespace detail {

/// Merges the results of two searches. Adds the runs in `split` (found for the model's
/// sequence-parallel form) that have more than one shard to the runs in `whole` (found for the
/// model itself).
search_result joined(search_result whole, search_result const& split);

}  // namespace detail

/// Returns the best runs of a model and of its sequence-parallel form (whose tokens are split
/// between blocks), found by two searches. Throws the errors of search().
template <model M, class Optimizer>
  requires repeats_blocks<M> search_result search_both_forms(M const& m, Optimizer const& optimizer,
                                                             search_space const& space, machine const& on) {
    return detail::joined(search(m, optimizer, space, on),
                          search(sequence_parallel<M>{m.config}, optimizer, space, on));
  }

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/search_both_forms.inl.hpp>
#endif
