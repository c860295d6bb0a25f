#pragma once

#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace redco::shape {

/// Axes of a mesh of ranks, from the outermost to the innermost. pp: pipeline stages; dp:
/// data-parallel replicas; ds: replicas of a group; ep: expert-parallel ranks; cp: context-parallel
/// ranks, which hold parts of the same sequences; tp: tensor-parallel shards. With --zero-within,
/// dp has the groups, and ds the replicas of a group, which share out state. Otherwise ds has one
/// rank.
enum class axis : std::uint8_t { pp, dp, ds, ep, cp, tp };
inline constexpr axis all_axes[] = {axis::pp, axis::dp, axis::ds, axis::ep, axis::cp, axis::tp};
/// Number of sets of mesh axes.
inline constexpr int axis_sets = 1 << std::size(all_axes);

inline constexpr auto axis_texts = meta::enum_texts<axis>({
    {axis::pp, "pp"},
    {axis::dp, "dp"},
    {axis::ds, "ds"},
    {axis::ep, "ep"},
    {axis::cp, "cp"},
    {axis::tp, "tp"},
});
constexpr std::string_view name_of(axis a) { return axis_texts.text_of(a); }

/// A set of mesh axes, such as `axis::dp | axis::ep`. Ranks whose indices differ only along these
/// axes form a group.
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
  /// `operator&` returns the axes that are in both sets. `without` returns those that are not in
  /// the set `b`.
  friend constexpr axes operator&(axes a, axes b) {
    a.bits = static_cast<std::uint8_t>(a.bits & b.bits);
    return a;
  }
  constexpr axes without(axes b) const {
    axes a = *this;
    a.bits = static_cast<std::uint8_t>(a.bits & ~b.bits);
    return a;
  }
  friend constexpr bool operator==(axes, axes) = default;
};
constexpr axes operator|(axis a, axis b) { return axes(a) | axes(b); }

/// Mesh axes that divide the examples of a batch: dp, ds and ep. Dense layers (without experts)
/// have dp x ds x ep replicas.
inline constexpr axes batch_axes = axis::dp | axis::ds | axis::ep;

/// Mesh axes within one replica: pp, cp and tp. Ranks that differ only along these axes compute the
/// same examples.
inline constexpr axes replica_axes = axis::pp | axis::cp | axis::tp;

/// Mesh axes that divide the tokens of a batch: dp, ds, ep and cp. The gradients of dense layers
/// are sums over their ranks.
inline constexpr axes token_axes = batch_axes | axis::cp;

/// Mesh axes over which parameters of a model may be divided: pp, ep and tp. Ranks that differ only
/// along dp, ds and cp hold equal parameters.
inline constexpr axes model_axes = axis::pp | axis::ep | axis::tp;
inline constexpr axes every_axis = axis::pp | token_axes | axis::tp;

/// Returns the names of mesh axes, from the outermost to the innermost, with the text `between`
/// after each but the last: "dp+ep".
inline std::string axes_text(axes some, std::string_view between = "+") {
  std::string text;
  for (axis const a : all_axes) {
    if (!some.has(a)) continue;
    if (!text.empty()) text += between;
    text += name_of(a);
  }
  return text;
}

}  // namespace redco::shape
