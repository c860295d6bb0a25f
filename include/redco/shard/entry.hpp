#pragma once

#include <redco/fact/parameter_fact.hpp>

#include <redco/shape/extents.hpp>

#include <cstdint>

namespace redco {

/// One line of a plan: what a parameter is cut into by `shards` ranks, and why.
struct entry {
  parameter_fact fact;
  int shards = 1;
  std::int64_t local_units = 0;  ///< units that each rank holds, the last one padded
  int sharers = 1;               ///< neighbouring ranks that hold the same part; their gradients are summed

  constexpr bool is_split() const { return fact.split_dim >= 0 && shards > 1; }

  /// The extents of every rank's part, padding included.
  constexpr extents local() const {
    extents shape = fact.shape;
    if (is_split()) shape[fact.split_dim] = local_units * unit_size();
    return shape;
  }

  /// Where the part of rank `tp_index` begins along split_dim.
  constexpr std::int64_t offset(int tp_index) const {
    return is_split() ? (tp_index / sharers) * local_units * unit_size() : 0;
  }

  /// The extents of a rank's part without padding; empty where the rank holds only padding.
  constexpr extents logical(int tp_index) const {
    extents shape = local();
    if (is_split()) {
      std::int64_t const left = fact.shape[fact.split_dim] - offset(tp_index);
      std::int64_t& size = shape[fact.split_dim];
      size = left < 0 ? 0 : left < size ? left : size;
    }
    return shape;
  }

 private:
  constexpr std::int64_t unit_size() const { return fact.shape[fact.split_dim] / fact.units; }
};

/// Whether `shards` ranks can hold a parameter: its units divide, or it may be padded, or neighbours may share a unit.
constexpr bool can_split(parameter_fact const& fact, int shards) {
  if (fact.split_dim < 0 || shards == 1) return true;
  if (fact.uneven) return shards <= fact.units;
  return fact.units % shards == 0 || (fact.sharers && shards % fact.units == 0);
}

/// The entry of a parameter on `shards` ranks; requires can_split.
constexpr entry entry_of(parameter_fact const& fact, int shards) {
  entry e;
  e.fact = fact;
  e.shards = shards;
  if (e.is_split()) {
    e.local_units = (fact.units + shards - 1) / shards;
    if (!fact.uneven && fact.units < shards) e.sharers = static_cast<int>(shards / fact.units);
  }
  return e;
}

}  // namespace redco
