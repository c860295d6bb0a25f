#pragma once

#include <cstdint>
#include <string_view>

namespace redco {

/// Axes of a mesh, the ways in which ranks divide a run, from the outermost to the innermost:
/// pipeline stages (pp), data-parallel replicas (dp), expert-parallel ranks (ep) and
/// tensor-parallel shards (tp).
enum class axis : std::uint8_t { pp, dp, ep, tp };
inline constexpr axis all_axes[] = {axis::pp, axis::dp, axis::ep, axis::tp};

constexpr std::string_view name_of(axis a) {
  constexpr std::string_view names[] = {"pp", "dp", "ep", "tp"};
  return names[static_cast<unsigned>(a)];
}

/// A set of mesh axes, which defines groups of ranks: `axis::dp | axis::ep`.
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

/// Axes that divide the examples of a batch. Dense layers have dp x ep replicas.
inline constexpr axes batch_axes = axis::dp | axis::ep;

/// Axes within one replica: ranks that differ only along these compute the same examples.
inline constexpr axes replica_axes = axis::pp | axis::tp;

/// Axes that may divide a model's parameters permanently. Ranks that differ only along other axes
/// hold equal parameters.
inline constexpr axes model_axes = axis::pp | axis::ep | axis::tp;
inline constexpr axes every_axis = axis::pp | axis::dp | axis::ep | axis::tp;

}  // namespace redco
