#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace redco::shape {

/// Units of training state that one replica keeps and updates.
enum class zero_owner : std::uint8_t {
  element,  ///< Each replica keeps a share of the elements of all parameters
  /// Each hidden matrix belongs wholly to one replica, or each parameter if the optimizer updates
  /// all parameters as a whole. The replicas share the elements of the other parameters.
  whole,
};

inline constexpr auto zero_owner_texts =
    meta::enum_texts<zero_owner>({{zero_owner::element, "element"}, {zero_owner::whole, "whole"}});
constexpr std::string_view name_of(zero_owner owner) { return zero_owner_texts.text_of(owner); }

/// The part of the training state that the replicas of a run share out among each other (ZeRO).
struct zero {
  static constexpr int most_level = 3;
  /// Bytes of gradients that one sum reduces from level 2 on, unless `bucket` says otherwise
  static constexpr std::int64_t default_bucket = std::int64_t{4} << 20;

  /// 0: each replica keeps all. 1: each keeps a share of the f32 master parameters and the
  /// optimizer's state, updates these parameters only, and gathers the values of the others. 2:
  /// each also keeps its share of the gradients only. 3: each also keeps its share of the values
  /// only, and gathers the values of a block before each use.
  int level = 0;
  /// Bytes of gradients that one sum reduces during backward; 0: one sum after backward
  std::int64_t bucket = 0;
  /// From level 2 on: true if sums of gradients and gathers of values overlap with computation
  bool overlaps = false;
  /// With level 3, number of blocks, from the first on, whose gathered values stay in memory from
  /// their first use to the end of the step
  std::int64_t keep = 0;
  /// True if the model is cut into pipeline stages. A stage sums its gradients once in a step, so
  /// it keeps all of them at every level.
  bool on_stages = false;
  /// Mesh axes over whose ranks state is shared out. Ranks that differ only along others of the
  /// token axes keep equal shares. With --zero-within, these are ds and ep.
  axes shared_over = token_axes;
  zero_owner owner = zero_owner::element;
  /// True if the optimizer updates all parameters as a whole, and not only hidden matrices
  bool owns_all = false;

  /// Returns true if each backward sums its gradients over the replicas, because a replica keeps no
  /// place for all of them.
  constexpr bool sums_in_backward() const { return level >= 2 && !on_stages; }
  /// Returns true if a replica keeps only its share of the parameters' values.
  constexpr bool shares_values() const { return level >= 3; }
  /// Returns true if each block has regions of its own in the flat buffers: gathers of values are
  /// by block, and so are sums of gradients of whole matrices.
  constexpr bool is_by_block() const { return shares_values() || (owner == zero_owner::whole && sums_in_backward()); }
  /// Returns the bytes of gradients that one sum reduces; 0: one sum after backward.
  constexpr std::int64_t bytes_of_sum() const { return bucket == 0 && sums_in_backward() ? default_bucket : bucket; }

  /// Returns the ZeRO of a run on the mesh `ranks`. With one replica, nothing can be shared out.
  constexpr zero on(mesh const& ranks) const {
    if (ranks.size(shared_over) == 1) return {};
    zero here = *this;
    here.on_stages = ranks.pp > 1;
    return here;
  }

  friend constexpr bool operator==(zero const&, zero const&) = default;
};

/// Throws `error` with exit code 64 if ZeRO has no such level. Also throws it for a number `keep`
/// of kept blocks that is negative, and for one without level 3.
constexpr void check_zero(int level, std::int64_t keep = 0) {
  if (level < 0 || level > zero::most_level)
    throw error(exit_code::usage, "--zero " + std::to_string(level) +
                                      " is no level of ZeRO: give 0 (each replica keeps all state), 1 (each keeps a "
                                      "share of the optimizer's state), 2 (each also keeps a share of the gradients) "
                                      "or 3 (each also keeps a share of the parameters)");
  if (keep < 0)
    throw error(exit_code::usage, "--zero-keep " + std::to_string(keep) +
                                      ": give the number of blocks, from 0 on, whose parameters stay gathered");
  if (keep > 0 && !zero{level}.shares_values())
    throw error(exit_code::usage, "--zero-keep " + std::to_string(keep) + " with --zero " + std::to_string(level) +
                                      ": only with --zero 3 are parameters gathered before use; give --zero 3, or "
                                      "leave --zero-keep out");
}

/// Throws `error` with exit code 64 if matrices would belong to replicas without ZeRO.
constexpr void check_zero_owner(zero_owner owner, int level) {
  if (owner == zero_owner::whole && level == 0)
    throw error(exit_code::usage,
                "--zero-owner whole without --zero: each replica updates all parameters; give --zero 1, 2 or 3");
}

}  // namespace redco::shape
