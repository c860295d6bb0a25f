#pragma once

#include <redco/update/segment.hpp>

#include <redco/optimizer/optimizer_description.hpp>

#include <cstdint>

namespace redco::update {

/// Satisfied by a user's own optimizer type with an `update` member function. The function receives
/// the gradient already divided and clipped, and changes param and slots in place. redco updates
/// the compute copy.
template <class D>
concept updating_optimizer = optimizer_description<D> && requires(D const& d, segment& s) {
  d.update(s, 0.0, std::int64_t{1});
};

}  // namespace redco::update
