#pragma once

#include <redco/options/given_flags.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/resolved.hpp>
#include <redco/meta/fields.hpp>

#include <functional>
#include <string_view>
#include <type_traits>

namespace redco::run::detail {

/// Runs `program` and returns its exit code. For an exception, prints one sentence on standard
/// error. At the end, prints the summary of the last fit and disconnects from the other processes.
int run_program(std::function<int()> const& program);

}  // namespace redco::run::detail

namespace redco {

/// Runs a whole program: reads its options, calls `body(options)` and returns the exit code. `body`
/// returns an int or nothing; a second parameter `options::resolved<Options>` has the source of
/// each value. `about`: first sentence of --help. Throws nothing: prints an exception as one
/// sentence, and returns the exit code of the `error`, or 70 for other exceptions.
///
///   return redco::main_of<my_options>(argc, argv, "Trains a model.", [](my_options const& o) {
///     redco::deployer deployer(o.deployer);
///   });
template <meta::reflected Options, class Body>
int main_of(int argc, char const* const* argv, std::string_view about, Body&& body) {
  return run::detail::run_program([&]() -> int {
    options::resolved<Options> const resolved = options::resolve<Options>(argc, argv, about);
    options::program_options() = options::agreed_options(resolved.values);
    options::note_given_flags(
        resolved.values, [&](std::string_view name) { return resolved.given(name); },
        options::given_flags::of_program());
    auto const call = [&]() -> decltype(auto) {
      if constexpr (std::is_invocable_v<Body&, Options const&, options::resolved<Options> const&>) {
        return body(resolved.values, resolved);
      } else {
        return body(resolved.values);
      }
    };
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return 0;
    } else {
      return call();
    }
  });
}

/// Returns `main_of<Options>(argc, argv, "", body)`: the text of --help has no introductory
/// sentence. Throws nothing.
template <meta::reflected Options, class Body>
int main_of(int argc, char const* const* argv, Body&& body) {
  return main_of<Options>(argc, argv, std::string_view(), body);
}

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/main_of.inl.hpp>
#endif
