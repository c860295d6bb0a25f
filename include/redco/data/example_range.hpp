#pragma once

#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>

#include <concepts>

namespace redco {

/// What can be trained on: any sized range with random access whose elements can be copied out: a vector, a span, a
/// view that computes its elements. Several rank threads read it at once, so const access must be safe.
template <class Range>
concept example_range = ranges::random_access_range<Range const> && ranges::sized_range<Range const> &&
    std::copyable<ranges::range_value_t<Range const>> && !std::same_as<ranges::range_value_t<Range const>, bool>;

/// The type of one example.
template <example_range Range>
using example_of = ranges::range_value_t<Range const>;

}  // namespace redco
