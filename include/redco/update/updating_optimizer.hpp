#pragma once

#include <redco/update/segment.hpp>

#include <redco/optimizer/optimizer_description.hpp>

#include <cstdint>

namespace redco::update {

/// An optimizer type of a user's own: it finds the gradient divided and clipped, changes param and slots in place and
/// leaves the compute copy to redco.
template <class D>
concept updating_optimizer = optimizer_description<D> && requires(D const& d, segment& s) {
  d.update(s, 0.0, std::int64_t{1});
};

}  // namespace redco::update
