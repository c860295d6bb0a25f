#pragma once

#include <redco/cost/setup.hpp>

#include <redco/fact/program.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::cost {

/// A tensor storage that forward saves for backward on one rank, as the model's layers declare it.
struct saved_slot {
  /// A layer that saves the storage: the layer's path with the index of each block, and the name
  /// under which the layer declares the tensor.
  struct owner {
    std::string layer, name;
  };

  /// Layers that save the storage, in the order of forward; several if they save one activation
  std::vector<owner> owners;
  dtype type = dtype::f32;
  extents shape;  ///< Shape of this rank's part, as the first of these layers declares it

  std::int64_t bytes() const { return shape.count() * shape::size_of(type); }
};

/// Returns all storages that forward saves in one micro-batch, in the order of forward and for
/// every repeated block. Tensors of the batch and of the loss are not included. The sum of the
/// bytes is `simulation::activations()`. Used by --check-saved.
std::vector<saved_slot> saved_slots(fact::program const& facts, setup const& run);

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/saved_slots.inl.hpp>
#endif
