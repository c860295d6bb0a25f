#pragma once

#include <redco/cost/search.hpp>

#include <redco/model/sequence_parallel.hpp>

namespace redco::cost {

namespace detail {

/// Adds the plans with more than one shard of a model's sequence-parallel form to the plans of the
/// model.
search_result joined(search_result whole, search_result const& split);

}  // namespace detail

/// Searches plans of a model as it is and of its sequence-parallel form (tokens split between
/// blocks). Throws the errors of search().
template <model M, class Optimizer>
  requires repeats_blocks<M> search_result search_both_forms(M const& m, Optimizer const& optimizer,
                                                             search_space const& space, machine const& on) {
    return detail::joined(search(m, optimizer, space, on),
                          search(sequence_parallel<M>{m.config}, optimizer, space, on));
  }

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/search_both_forms.inl.hpp>
#endif
