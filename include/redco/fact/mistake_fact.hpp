#pragma once

#include <redco/fact/path.hpp>

#include <array>
#include <cstdint>

namespace redco::fact {

/// Kinds of mistake in the sizes of a model, with the codes of their errors.
enum class mistake : std::uint8_t {
  none,
  width,    ///< Error L004: a layer reads or adds another extent than it receives
  rank,     ///< Error L005: a layer reads another number of dimensions than it receives
  size,     ///< Error L006: a size of a layer is below 1
  divisor,  ///< Error L009: a size is not a multiple of another size
  depth,    ///< Error L010: a layer's path is too long, or too many repeats are nested
  blocks,   ///< Error L011: a rewrite names blocks that the model does not have
};

/// A mistake in the sizes of a model, found while layers declare their parameters and tensors: the
/// kind, the wrong numbers and the layers at fault.
struct mistake_fact {
  mistake what = mistake::none;
  /// Name of the wrong size, such as "features", "channels" or "heads"; empty if the number of
  /// dimensions is wrong.
  path of = {};
  /// Name of the divisor if a size is not divisible; its value is the member `wanted`.
  path by = {};
  std::int64_t wanted = 0;
  std::int64_t found = 0;
  /// Path of the layer that reads the tensor or has the wrong size; for a sum of two tensors, the
  /// layer that made the other addend. Empty: the model.
  path reader = {};
  path giver = {};  ///< Path of the layer that made the tensor; empty: the model's input
  /// Indices (flow::made) of the layers that set the two sizes: first the wanted size, then the
  /// found size. The first index is -1 if `reader` already names the layer.
  std::array<int, 2> makers{-1, 0};

  constexpr explicit operator bool() const { return what != mistake::none; }
  friend constexpr bool operator==(mistake_fact const&, mistake_fact const&) = default;
};

}  // namespace redco::fact
