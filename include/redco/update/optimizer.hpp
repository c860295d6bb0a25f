#pragma once

#include <redco/update/detail/update_by.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/updating_optimizer.hpp>

#include <redco/optimizer/optimizer_description.hpp>

#include <cstdint>

namespace redco::update {

/// Satisfied by an optimizer description (a type with hyper-parameters) that has an update rule.
/// The rule is either redco's own or an `update` member function of the type.
template <class D>
concept optimizer = optimizer::optimizer_description<D> &&
    (updating_optimizer<D> || requires(D const& d, segment& s) { detail::update_by(d, s, 0.0, std::int64_t{1}, 1.0); });

}  // namespace redco::update
