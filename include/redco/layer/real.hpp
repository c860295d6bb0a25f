#pragma once

namespace redco::layers {

/// A double for use as a template argument: `layer_norm<width, real{1e-6}>`. clang 14 accepts
/// doubles only inside a class.
struct real {
  double value = 0;

  constexpr operator double() const { return value; }
};

}  // namespace redco::layers
