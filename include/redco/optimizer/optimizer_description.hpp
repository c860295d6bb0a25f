#pragma once

#include <redco/optimizer/learning_rate_at.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <concepts>
#include <string_view>

namespace redco {

/// What can stand where an optimizer is asked for: a static `name`, a learning rate (`lr`, or learning_rate_at()) and
/// the names of its state slots. Optional: clip_norm, decay_all. Updating is the matter of update/; a user's own type
/// brings
///   void update(redco::segment&, double lr, std::int64_t step) const;
template <class D>
concept optimizer_description = std::copyable<D> && requires(D const& d) {
  { D::name } -> std::convertible_to<std::string_view>;
  learning_rate_at(d, 0, 1);
  state_slots(d);
};

}  // namespace redco
