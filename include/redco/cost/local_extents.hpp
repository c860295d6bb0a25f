#pragma once

#include <redco/fact/flow.hpp>
#include <redco/fact/width_kind.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>

#include <cstdint>

namespace redco::cost {

/// Returns the shape of one rank's part of an activation, including padding.
constexpr extents local_extents(fact::flow const& f, int shards) {
  extents shape = f.shape;
  if (f.split_dim >= 0 && f.units > 0 && shards > 1)
    shape[f.split_dim] = part_extent(f.shape[f.split_dim], f.units, shards);
  return shape;
}

/// Returns the type in which sums are accumulated: f64 for f64, otherwise f32. Optimizer masters
/// have this type too.
constexpr dtype accumulate_type(dtype compute) { return compute == dtype::f64 ? dtype::f64 : dtype::f32; }

/// Returns the element type of an activation or message.
constexpr dtype type_of(fact::width_kind kind, dtype compute) {
  switch (kind) {
    case fact::width_kind::compute: return compute;
    case fact::width_kind::accumulate: return accumulate_type(compute);
    case fact::width_kind::index: return dtype::i64;
  }
  return compute;
}

/// Returns the bytes of one element of an activation or message.
constexpr std::int64_t size_of(fact::width_kind kind, dtype compute) { return size_of(type_of(kind, compute)); }

/// Returns the bytes of one rank's part of an activation.
constexpr std::int64_t local_bytes(fact::flow const& f, fact::width_kind kind, int shards, dtype compute) {
  return local_extents(f, shards).count() * size_of(kind, compute);
}

}  // namespace redco::cost
