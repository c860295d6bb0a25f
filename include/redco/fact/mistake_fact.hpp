#pragma once

#include <redco/fact/path.hpp>

#include <array>
#include <cstdint>

namespace redco::fact {

/// Which rule the sizes of a model break.
enum class mistake : std::uint8_t {
  none,
  width,    ///< L004: a layer reads, or adds, another extent than is given
  rank,     ///< L005: a layer reads another number of dimensions than is given
  size,     ///< L006: an extent below one
  divisor,  ///< L009: an extent that is no multiple of another one
  depth,    ///< L010: a path that is too long, or too many repeats around a layer
  blocks,   ///< L011: a rewritten range of blocks begins or ends after the last one
};

/// What is wrong with the sizes of a model: the first one that its layers state.
struct mistake_fact {
  mistake what = mistake::none;
  path of = {};  ///< "features", "channels", "heads"; empty for a rank
  path by = {};  ///< of a divisor: its name, which is `wanted`
  std::int64_t wanted = 0;
  std::int64_t found = 0;
  path reader = {};  ///< the layer that reads, or whose size it is; empty: the model, or the maker of the addend
  path giver = {};   ///< the layer that gives; empty: the model's input
  std::array<int, 2> makers{-1, 0};  ///< whose widths these are (`flow::made`); reader -1: known by its path

  constexpr explicit operator bool() const { return what != mistake::none; }
  friend constexpr bool operator==(mistake_fact const&, mistake_fact const&) = default;
};

}  // namespace redco::fact
