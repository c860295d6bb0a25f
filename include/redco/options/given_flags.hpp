#pragma once

#include <redco/options/fit_options.hpp>
#include <redco/meta/fields.hpp>

#include <set>
#include <string>
#include <type_traits>

namespace redco::options {

/// The training flags of a program: their values, and the names of those that a file or the command
/// line has set, such as "lr".
struct given_flags {
  training_flags values = {};
  std::set<std::string> names = {};

  /// Returns the training flags of this program. `main_of` sets them; they have no names in
  /// programs without `main_of` or without training flags.
  static given_flags& of_program() {
    static given_flags all;
    return all;
  }
};

/// Copies the `training_flags` that are nested in the program's options `values` to `all`, with the
/// names of those for which `is_given(name)` returns true.
template <meta::reflected Options, class IsGiven>
void note_given_flags(Options const& values, IsGiven const& is_given, given_flags& all) {
  meta::for_each_named(values, [&](auto const&, auto const& member) {
    using type = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_same_v<type, training_flags>) {
      all.values = member;
      meta::for_each_named(member, [&](auto const& field, auto const&) {
        if (is_given(field.name())) all.names.emplace(field.name());
      });
    } else if constexpr (meta::reflected<type>) {
      note_given_flags(member, is_given, all);
    }
  });
}

}  // namespace redco::options
