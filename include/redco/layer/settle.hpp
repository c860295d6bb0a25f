#pragma once

#include <redco/layer/walk.hpp>

#include <redco/shape/layout.hpp>

#include <type_traits>

namespace redco::detail {

/// The facts of reducing a pending sum: one all-reduce forward, a new activation.
template <class X, class Walk>
constexpr void settle_facts(Walk& w) {
  if constexpr (std::is_same_v<X, partial>) {
    w.message(collective::all_reduce, false, w.activation.shape);
    w.produce(w.activation.shape);
  }
}

}  // namespace redco::detail
