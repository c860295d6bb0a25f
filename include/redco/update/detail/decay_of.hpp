#pragma once

#include <redco/update/segment.hpp>

#include <cstdint>

namespace redco::update::detail {

/// Returns the weight decay of segment `s` in an update by the rule `d`.
template <class Description>
double decay_of(Description const& d, segment const& s) {
  return s.weight_decay.value_or(s.decay || d.decay_all ? d.weight_decay : 0);
}

/// Smallest number of elements that is worth a thread: n elements are updated in at most ceil(n /
/// update_grain) parallel parts.
inline constexpr std::int64_t update_grain = 1 << 15;

}  // namespace redco::update::detail
