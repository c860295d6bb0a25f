#pragma once

#include <redco/fact/parameter_fact.hpp>

#include <redco/shape/extents.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/place.hpp>
#include <redco/shape/stage_set.hpp>

#include <cstdint>

namespace redco::shard {

/// One line of a plan: what a parameter is cut into by the ranks of a mesh, and why. All that follows from a parameter's
/// places is computed here and nowhere else: extents, offsets, owners, and how many ranks hold the same part.
struct entry {
  fact::parameter_fact fact;
  redco::mesh mesh = {};
  stage_set stages = {};  ///< pipeline stages that hold the parameter

  /// Whether the ranks of this axis hold different parts.
  constexpr bool is_split(axis over) const { return fact.on(over).dim >= 0 && mesh[over] > 1; }
  constexpr bool is_split() const {
    for (axis const a : all_axes)
      if (is_split(a)) return true;
    return false;
  }

  /// The size of a sharer group along an axis that cuts it, whose gradients are summed (`place::sharers`); 1 along others.
  constexpr int sharers(axis over) const { return is_split(over) ? fact.on(over).sharers(mesh[over]) : 1; }

  /// The extents of every rank's part, padding included.
  constexpr extents local() const {
    extents shape = fact.shape;
    for (place const& p : fact.places)
      if (p.dim >= 0 && mesh[p.axis] > 1) shape[p.dim] = part_extent(fact.shape[p.dim], p.units, mesh[p.axis]);
    return shape;
  }

  /// Where a rank's part begins; at the end of the dimension where the rank holds only padding.
  constexpr extents offset(int rank) const {
    extents begin = fact.shape;
    for (int d = 0; d < begin.rank; ++d) begin[d] = 0;
    extents const part = local();
    for (place const& p : fact.places) {
      if (p.dim < 0) continue;
      std::int64_t const first = mesh.coordinate(rank, p.axis) / sharers(p.axis) * part[p.dim];
      begin[p.dim] = first < fact.shape[p.dim] ? first : fact.shape[p.dim];
    }
    return begin;
  }

  /// The extents of a rank's part without padding; empty where the rank holds only padding.
  constexpr extents logical(int rank) const {
    extents shape = local();
    extents const begin = offset(rank);
    for (int d = 0; d < shape.rank; ++d)
      if (fact.shape[d] - begin[d] < shape[d]) shape[d] = fact.shape[d] - begin[d];
    return shape;
  }

  /// The place, in the unsharded parameter, of the first element of a row of a rank's part without padding. Rows are runs along
  /// the last dimension.
  constexpr std::int64_t first_of_row(int rank, std::int64_t row) const {
    extents const part = logical(rank), begin = offset(rank);
    std::int64_t first = 0, stride = 1;
    for (int d = fact.shape.rank - 1; d >= 0; --d) {
      bool const last = d == fact.shape.rank - 1;
      first += (begin[d] + (last ? 0 : row % part[d])) * stride;
      if (!last) row /= part[d];
      stride *= fact.shape[d];
    }
    return first;
  }

  /// Returns true if the rank's pipeline stage has the parameter.
  constexpr bool is_held_by(int rank) const { return stages.has(mesh.coordinate(rank, axis::pp)); }

  /// Returns the number of ranks that hold the same part, of a group over these axes in which a
  /// rank holds it.
  constexpr int holders(axes over) const {
    int count = 1;
    for (axis const a : all_axes) {
      if (!over.has(a)) continue;
      count *= a == axis::pp ? stages.count(mesh.pp) : is_split(a) ? sharers(a) : mesh[a];
    }
    return count;
  }

  /// Returns true if the rank is the first of those that hold its part: the one that writes it to a
  /// checkpoint.
  constexpr bool owns(int rank) const {
    if (mesh.coordinate(rank, axis::pp) != stages.first()) return false;
    for (axis const a : all_axes)
      if (a != axis::pp && mesh.coordinate(rank, a) % holders(a) != 0) return false;
    return true;
  }
};

/// The first place of a parameter along which the mesh cannot hold it; one without a dim if there is none.
constexpr place illegal_place(fact::parameter_fact const& fact, mesh const& on) {
  for (place const& p : fact.places)
    if (!p.can_cut(on[p.axis])) return p;
  return {};
}

/// Whether the mesh can hold a parameter along every place of it.
constexpr bool can_split(fact::parameter_fact const& fact, mesh const& on) { return illegal_place(fact, on).dim < 0; }

}  // namespace redco::shard
