#pragma once

#include <redco/fact/path.hpp>

#include <array>
#include <cstdint>

namespace redco::fact {

/// Kinds of mistake in the sizes of a model.
enum class mistake : std::uint8_t {
  none,
  width,    ///< L004: a layer reads or adds another extent than it receives
  rank,     ///< L005: a layer reads another number of dimensions than it receives
  size,     ///< L006: an extent is below one
  divisor,  ///< L009: an extent is no multiple of another one
  depth,    ///< L010: a path is too long, or too many repeats enclose a layer
};

/// The first mistake in the sizes of a model that its layers state.
struct mistake_fact {
  mistake what = mistake::none;
  /// Name of the wrong extent, such as "features", "channels" or "heads"; empty for a wrong number
  /// of dimensions.
  path of = {};
  /// Name of the divisor, whose value is `wanted`.
  path by = {};
  std::int64_t wanted = 0;
  std::int64_t found = 0;
  /// Layer that reads the tensor or has the wrong size; empty: the model, or the maker of the
  /// addend.
  path reader = {};
  path giver = {};  ///< Layer that makes the tensor; empty: the model's input
  /// Indices of both widths (`flow::made`): of the reader, or -1 if its path is known, and of the
  /// giver.
  std::array<int, 2> makers{-1, 0};

  constexpr explicit operator bool() const { return what != mistake::none; }
  friend constexpr bool operator==(mistake_fact const&, mistake_fact const&) = default;
};

}  // namespace redco::fact
