#pragma once

#include <redco/fact/flow.hpp>
#include <redco/fact/width_kind.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>

#include <cstdint>

namespace redco::cost {

/// The extents of every rank's part of an activation, padding included.
constexpr extents local_extents(fact::flow const& f, int shards) {
  extents shape = f.shape;
  if (f.split_dim >= 0 && f.units > 0 && shards > 1)
    shape[f.split_dim] = part_extent(f.shape[f.split_dim], f.units, shards);
  return shape;
}

/// What numbers are accumulated in: f64 for f64, else f32. The masters of the optimizer have it too.
constexpr dtype accumulate_type(dtype compute) { return compute == dtype::f64 ? dtype::f64 : dtype::f32; }

/// The element type of an activation or message.
constexpr dtype type_of(fact::width_kind kind, dtype compute) {
  switch (kind) {
    case fact::width_kind::compute: return compute;
    case fact::width_kind::accumulate: return accumulate_type(compute);
    case fact::width_kind::index: return dtype::i64;
  }
  return compute;
}

/// Bytes of one element of an activation or message.
constexpr std::int64_t size_of(fact::width_kind kind, dtype compute) { return size_of(type_of(kind, compute)); }

/// Bytes of one rank's part.
constexpr std::int64_t local_bytes(fact::flow const& f, fact::width_kind kind, int shards, dtype compute) {
  return local_extents(f, shards).count() * size_of(kind, compute);
}

}  // namespace redco::cost
