#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace redco::optimizer {

/// A list of at most four names of an optimizer's state slots, such as the two moments of Adam.
/// Each slot has one element per parameter element, in the dtype of the master parameters.
class slot_list {
 public:
  constexpr slot_list() = default;
  constexpr slot_list(std::initializer_list<std::string_view> names) {
    for (auto const name : names) push_back(name);
  }

  constexpr void push_back(std::string_view name) { names_.at(static_cast<std::size_t>(size_++)) = name; }
  constexpr int size() const { return size_; }
  constexpr std::string_view operator[](int i) const { return names_[static_cast<std::size_t>(i)]; }
  constexpr auto begin() const { return names_.begin(); }
  constexpr auto end() const { return names_.begin() + size_; }

 private:
  std::array<std::string_view, 4> names_{};
  int size_ = 0;
};

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
