#pragma once

#include <redco/cost/setup.hpp>

#include <redco/fact/program.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::cost {

/// A storage that forward saves for backward on one rank, as the layers declare it.
struct saved_slot {
  /// A layer that saves it: its path, with the index of each block, and the name under which it does.
  struct owner {
    std::string layer, name;
  };

  std::vector<owner> owners;  ///< in the order of forward; several where layers save one activation
  dtype type = dtype::f32;
  extents shape;  ///< of this rank's part, as its first owner states it

  std::int64_t bytes() const { return shape.count() * size_of(type); }
};

/// All of them for one micro-batch, those of every block, in the order of forward. Tensors of the batch itself and the loss'
/// are none. Their bytes sum up to what `simulation` says that forward saves.
std::vector<saved_slot> saved_slots(fact::program const& facts, setup const& run);

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/saved_slots.inl.hpp>
#endif
