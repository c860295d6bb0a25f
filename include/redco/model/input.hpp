#pragma once

#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco {

/// The shape of one example of a model's input, as template argument of `model_of`. `input<1, 28,
/// 28>` is an image with one channel and 28 x 28 pixels.
template <std::int64_t... Extents>
struct input {
  static constexpr extents of(std::int64_t batch) { return {batch, Extents...}; }
};

}  // namespace redco
