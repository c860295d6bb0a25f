#pragma once

#include <redco/fact/event.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>

#include <cstdint>

namespace redco::cost {

/// Returns the shape of one rank's part of a tensor that is cut over `shards` ranks, including
/// padding.
constexpr extents local_extents(fact::flow const& f, int shards) {
  extents shape = f.shape;
  if (f.split_dim >= 0 && f.units > 0 && shards > 1)
    shape[f.split_dim] = shape::part_extent(f.shape[f.split_dim], f.units, shards);
  return shape;
}

/// Returns the dtype in which sums are accumulated for this compute dtype: f64 for f64, otherwise
/// f32. The optimizer's copies of parameters have this dtype too.
constexpr dtype accumulate_type(dtype compute) { return compute == dtype::f64 ? dtype::f64 : dtype::f32; }

/// Returns the dtype of a tensor or message of this kind, for a run with this compute dtype.
constexpr dtype type_of(fact::width_kind kind, dtype compute) {
  switch (kind) {
    case fact::width_kind::compute: return compute;
    case fact::width_kind::accumulate: return accumulate_type(compute);
    case fact::width_kind::index: return dtype::i64;
  }
  return compute;
}

/// Returns the bytes of one element of a tensor or message of this kind, for a run with this
/// compute dtype.
constexpr std::int64_t size_of(fact::width_kind kind, dtype compute) { return shape::size_of(type_of(kind, compute)); }

/// Returns the bytes of one rank's part of a tensor that is cut over `shards` ranks.
constexpr std::int64_t local_bytes(fact::flow const& f, fact::width_kind kind, int shards, dtype compute) {
  return local_extents(f, shards).count() * size_of(kind, compute);
}

}  // namespace redco::cost
