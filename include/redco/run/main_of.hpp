#pragma once

#include <redco/options/agreed_options.hpp>
#include <redco/options/resolve.hpp>
#include <redco/options/resolved.hpp>
#include <redco/meta/fields.hpp>

#include <functional>
#include <string_view>
#include <type_traits>

namespace redco::run::detail {

/// `exit_code_of` with the words of libtorch's exceptions; then the end summary.
int run_program(std::function<int()> const& program);

}  // namespace redco::run::detail

namespace redco {

/// The whole of a program's main: reads its options, calls `body(options)` and returns the exit code. `body` returns an int or
/// nothing, and may take the `options::resolved<Options>` as a second argument, which also tells where each value came from.
///
///   int main(int argc, char** argv) {
///     return redco::main_of<my_options>(argc, argv, "Trains a model.", [](my_options const& o) {
///       redco::deployer deployer(o.deployer);
///       ...
///     });
///   }
///
/// Whatever leaves `body`, or is wrong with the options, ends the program with one sentence on standard error: an `error` with
/// its own exit code, any other exception with 70. Behind a fit the end summary is printed. --help prints `about` and all options.
/// Of several processes that a launcher started only the first shows its standard output.
template <reflected Options, class Body>
int main_of(int argc, char const* const* argv, std::string_view about, Body&& body) {
  return run::detail::run_program([&]() -> int {
    options::resolved<Options> const given = options::resolve<Options>(argc, argv, about);
    options::program_options() = options::agreed_options(given.values);
    auto const call = [&]() -> decltype(auto) {
      if constexpr (std::is_invocable_v<Body&, Options const&, options::resolved<Options> const&>) {
        return body(given.values, given);
      } else {
        return body(given.values);
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

/// main_of without a sentence for --help.
template <reflected Options, class Body>
int main_of(int argc, char const* const* argv, Body&& body) {
  return main_of<Options>(argc, argv, std::string_view(), body);
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/run/main_of.inl.hpp>
#endif
