#pragma once

#include <redco/fact/parameter_fact.hpp>

#include <redco/shape/extents.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/place.hpp>

#include <cstdint>

namespace redco::shard {

/// An entry of a plan: how one parameter is split over a mesh, and why. Its functions compute
/// shapes, offsets, owners and holders of the shards from the parameter's cuts over mesh axes.
struct entry {
  fact::parameter_fact fact;
  redco::mesh mesh = {};
  shape::stage_set stages = {};  ///< Pipeline stages whose ranks hold the parameter
  /// Block that has the parameter, counted over all outermost `repeat`s; -1 outside blocks
  std::int64_t block = -1;

  /// Returns true if the mesh axis `over` cuts the parameter and has more than one rank, so that
  /// its ranks hold different parts.
  constexpr bool is_split(shape::axis over) const { return fact.on(over).dim >= 0 && mesh[over] > 1; }
  constexpr bool is_split() const {
    for (shape::axis const a : shape::all_axes)
      if (is_split(a)) return true;
    return false;
  }

  /// Returns the number of neighbouring ranks that hold equal parts (a sharer group, whose
  /// gradients are summed) if the mesh axis `over` cuts the parameter. Returns 1 for other axes.
  constexpr int sharers(shape::axis over) const { return is_split(over) ? fact.on(over).sharers(mesh[over]) : 1; }

  /// Returns the shape of one rank's part, including padding. It is equal on all ranks.
  constexpr extents local() const {
    extents shape = fact.shape;
    for (shape::place const& p : fact.places)
      if (p.dim >= 0 && mesh[p.axis] > 1) shape[p.dim] = shape::part_extent(fact.shape[p.dim], p.units, mesh[p.axis]);
    return shape;
  }

  /// Returns the offset of the part of `rank` in the complete parameter, along each dimension. If
  /// the rank holds only padding, the offset is the end of the dimension.
  constexpr extents offset(int rank) const {
    extents begin = fact.shape;
    for (int d = 0; d < begin.rank; ++d) begin[d] = 0;
    extents const part = local();
    for (shape::place const& p : fact.places) {
      if (p.dim < 0) continue;
      std::int64_t const first = mesh.coordinate(rank, p.axis) / sharers(p.axis) * part[p.dim];
      begin[p.dim] = first < fact.shape[p.dim] ? first : fact.shape[p.dim];
    }
    return begin;
  }

  /// Returns the shape of the part of `rank` without padding. A size is 0 if the rank holds only
  /// padding.
  constexpr extents logical(int rank) const {
    extents shape = local();
    extents const begin = offset(rank);
    for (int d = 0; d < shape.rank; ++d)
      if (fact.shape[d] - begin[d] < shape[d]) shape[d] = fact.shape[d] - begin[d];
    return shape;
  }

  /// Returns the entry of a tensor with this parameter's shape and cuts, but without dimension
  /// `dim`, which is negative and counts from the last one. It describes sums over `dim`.
  constexpr entry without(int dim) const {
    entry other = *this;
    int const gone = fact.shape.rank + dim;
    other.fact.shape = {};
    for (int d = 0; d < fact.shape.rank; ++d)
      if (d != gone) other.fact.shape.push(fact.shape[d]);
    for (shape::place& p : other.fact.places) p.dim = p.dim == gone ? -1 : p.dim > gone ? p.dim - 1 : p.dim;
    return other;
  }

  /// Returns the element index, in the complete parameter, of the first element of one row of the
  /// part of `rank`. Rows are counted without padding and extend along the last dimension.
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

  /// Returns true if the pipeline stage of `rank` holds the parameter.
  constexpr bool is_held_by(int rank) const { return stages.has(mesh.coordinate(rank, shape::axis::pp)); }

  /// Returns the number of ranks that hold equal parts of the parameter, within a group over the
  /// mesh axes `over`. Ranks of stages without the parameter are not counted.
  constexpr int holders(shape::axes over) const {
    int count = 1;
    for (shape::axis const a : shape::all_axes) {
      if (!over.has(a)) continue;
      count *= a == shape::axis::pp ? stages.count(mesh.pp) : is_split(a) ? sharers(a) : mesh[a];
    }
    return count;
  }

  /// Returns true if `rank` owns its part of the parameter: it is the first of all ranks that hold
  /// this part. The owner writes the part to checkpoints.
  constexpr bool owns(int rank) const {
    if (mesh.coordinate(rank, shape::axis::pp) != stages.first()) return false;
    for (shape::axis const a : shape::all_axes)
      if (a != shape::axis::pp && mesh.coordinate(rank, a) % holders(a) != 0) return false;
    return true;
  }
};

/// Returns the first place (cut of a dimension over a mesh axis) of a parameter that is impossible
/// on the mesh, for example because heads do not divide evenly. Returns a place with `dim` -1 if
/// all cuts are possible.
constexpr shape::place illegal_place(fact::parameter_fact const& fact, mesh const& on) {
  for (shape::place const& p : fact.places)
    if (!p.can_cut(on[p.axis])) return p;
  return {};
}

/// Returns true if all cuts of the parameter are possible on the mesh.
constexpr bool can_split(fact::parameter_fact const& fact, mesh const& on) { return illegal_place(fact, on).dim < 0; }

}  // namespace redco::shard
