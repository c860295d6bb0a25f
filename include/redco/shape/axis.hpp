#pragma once

#include <cstdint>
#include <string_view>

namespace redco {

/// The ways in which ranks divide a run, from the outermost to the innermost: pipeline stages, data-parallel replicas,
/// expert-parallel ranks and tensor-parallel shards.
enum class axis : std::uint8_t { pp, dp, ep, tp };
inline constexpr axis all_axes[] = {axis::pp, axis::dp, axis::ep, axis::tp};

constexpr std::string_view name_of(axis a) {
  constexpr std::string_view names[] = {"pp", "dp", "ep", "tp"};
  return names[static_cast<unsigned>(a)];
}

/// A set of axes, to which a group of ranks belongs: `axis::dp | axis::ep`.
struct axes {
  std::uint8_t bits = 0;

  constexpr axes() = default;
  constexpr axes(axis a) : bits(static_cast<std::uint8_t>(1u << static_cast<unsigned>(a))) {}

  constexpr bool has(axis a) const { return (bits & axes(a).bits) != 0; }
  constexpr bool empty() const { return bits == 0; }

  friend constexpr axes operator|(axes a, axes b) {
    a.bits = static_cast<std::uint8_t>(a.bits | b.bits);
    return a;
  }
  friend constexpr bool operator==(axes, axes) = default;
};
constexpr axes operator|(axis a, axis b) { return axes(a) | axes(b); }

/// The axes that divide the examples of a batch: dense layers see dp x ep replicas.
inline constexpr axes batch_axes = axis::dp | axis::ep;

/// The axes along which the ranks of one replica lie: these ranks compute the same examples.
inline constexpr axes replica_axes = axis::pp | axis::tp;

/// Over which the parameters of a model may be divided for good: ranks that differ only along others hold the same.
inline constexpr axes model_axes = axis::pp | axis::ep | axis::tp;
inline constexpr axes every_axis = axis::pp | axis::dp | axis::ep | axis::tp;

}  // namespace redco
