#pragma once

#include <cstdint>

namespace redco {

/// A handle to one of a network's parameters. `ctx[weight]`, with a module's context `ctx`, returns
/// the parameter's tensor in the current call, or an undefined tensor for an empty handle.
struct parameter {
  std::int32_t place = -1;

  constexpr explicit operator bool() const { return place >= 0; }
};

}  // namespace redco
