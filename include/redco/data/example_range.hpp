#pragma once

#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>

#include <concepts>

namespace redco::data {

/// Concept of a range of examples that a trainer accepts: with a size, random access and copyable
/// elements, such as a vector, span or computed view. Several rank threads read it concurrently, so
/// const access must be thread-safe.
template <class Range>
concept example_range = ranges::random_access_range<Range const> && ranges::sized_range<Range const> &&
    std::copyable<ranges::range_value_t<Range const>> && !std::same_as<ranges::range_value_t<Range const>, bool>;

/// The type of the examples in a range.
template <example_range Range>
using example_of = ranges::range_value_t<Range const>;

}  // namespace redco::data
