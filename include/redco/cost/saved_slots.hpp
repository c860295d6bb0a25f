#pragma once

#include <redco/cost/setup.hpp>

#include <redco/fact/program.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::cost {

/// A storage that forward saves for backward on one rank, as declared by the layers.
struct saved_slot {
  /// A layer that saves the storage: its path with the index of each block, and the name of the
  /// saved tensor.
  struct owner {
    std::string layer, name;
  };

  std::vector<owner> owners;  ///< owners in forward order; several if layers save one activation
  dtype type = dtype::f32;
  extents shape;  ///< shape of this rank's part, as stated by its first owner

  std::int64_t bytes() const { return shape.count() * size_of(type); }
};

/// Returns all saved storages of one micro-batch in forward order, including every block. Omits
/// tensors of the batch and of the loss. Their bytes sum to `simulation::activations()`.
std::vector<saved_slot> saved_slots(fact::program const& facts, setup const& run);

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/saved_slots.inl.hpp>
#endif
