#pragma once

#include <cstdint>

namespace redco {

/// A handle to one of a network's parameters; `ctx[weight]` returns its tensor in the current call.
/// An empty handle gives an undefined tensor.
struct parameter {
  std::int32_t place = -1;

  constexpr explicit operator bool() const { return place >= 0; }
};

}  // namespace redco
