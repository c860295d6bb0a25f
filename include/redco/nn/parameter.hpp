#pragma once

#include <cstdint>

namespace redco {

/// Which of a network's parameters a module reads; its tensor is the pass': `ctx[weight]`. A layer without one has a handle to
/// none, whose tensor is undefined.
struct parameter {
  std::int32_t place = -1;

  constexpr explicit operator bool() const { return place >= 0; }
};

}  // namespace redco
