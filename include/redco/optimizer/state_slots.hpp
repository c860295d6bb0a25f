#pragma once

#include <redco/optimizer/slot_list.hpp>

#include <string_view>

namespace redco::optimizer {

/// Returns the names of an optimizer's state slots (such as the two moments of Adam). Takes the
/// names from the member function slots() of the settings, or from their static member `slots`.
template <class Description>
constexpr slot_list state_slots(Description const& description) requires(
    requires { slot_list(description.slots()); } || requires { std::string_view(*std::begin(Description::slots)); }) {
  if constexpr (requires { slot_list(description.slots()); }) {
    return description.slots();
  } else {
    slot_list result;
    for (std::string_view const name : Description::slots) result.push_back(name);
    return result;
  }
}

}  // namespace redco::optimizer
