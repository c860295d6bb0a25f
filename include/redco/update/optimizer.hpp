#pragma once

#include <redco/update/detail/update_by.hpp>
#include <redco/update/detail/update_elements.hpp>
#include <redco/update/segment.hpp>
#include <redco/optimizer/optimizer_description.hpp>

#include <cstdint>

namespace redco::update {

/// Satisfied by a user's own optimizer type with an `update` member function. The function receives
/// a segment (parameters in flat buffers) whose gradient is already divided and clipped. It changes
/// segment::param and segment::slots in place. redco then updates segment::compute.
template <class D>
concept updating_optimizer = optimizer::optimizer_description<D> && requires(D const& d, segment& s) {
  d.update(s, 0.0, std::int64_t{1});
};

/// Satisfied by an optimizer description (a type with hyper-parameters) that has an update rule.
/// The rule is either redco's own or an `update` member function of the type.
template <class D>
concept optimizer = optimizer::optimizer_description<D> &&
    (updating_optimizer<D> || requires(D const& d, segment& s) { detail::update_by(d, s, 0.0, std::int64_t{1}, 1.0); });

}  // namespace redco::update
