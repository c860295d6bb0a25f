#pragma once

#include <redco/fact/activation_fact.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>

#include <cstdint>

namespace redco {

/// The extents of every rank's part of an activation, padding included.
constexpr extents local_extents(saved_fact const& fact, int shards) {
  extents shape = fact.shape;
  if (fact.split_dim >= 0 && fact.units > 0 && shards > 1)
    shape[fact.split_dim] = part_extent(fact.shape[fact.split_dim], fact.units, shards);
  return shape;
}

/// What numbers are accumulated in: f64 for f64, else f32. The masters of the optimizer have it too.
constexpr dtype accumulate_type(dtype compute) { return compute == dtype::f64 ? dtype::f64 : dtype::f32; }

/// Bytes of one element of an activation or message.
constexpr std::int64_t size_of(width_kind kind, dtype compute) {
  switch (kind) {
    case width_kind::compute: return size_of(compute);
    case width_kind::accumulate: return size_of(accumulate_type(compute));
    case width_kind::index: return size_of(dtype::i64);
  }
  return 0;
}

/// Bytes of one copy on one rank.
constexpr std::int64_t local_bytes(saved_fact const& fact, int shards, dtype compute) {
  return local_extents(fact, shards).count() * size_of(fact.kind, compute);
}

}  // namespace redco
