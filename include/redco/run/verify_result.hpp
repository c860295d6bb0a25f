#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redco {

/// Largest differences that rounding explains, relative to a scale: of a loss and of a gradient
/// norm to their values, of a gradient and of a slot to the largest of the tensor (or to `floor`
/// times the largest of the network), of an update to the largest update of the network.
struct verify_tolerance {
  double loss, norm, gradient, update, slot, floor;
  /// Updates and slots are compared where the gradient is at least this share of the tensor's
  /// largest: optimizers that divide by the gradient's size amplify what rounding leaves of zero.
  double least_gradient;

  /// Returns the tolerance of a run that computes in this type.
  static verify_tolerance of(at::ScalarType computed);
};

/// The differences of one parameter, the largest of all steps and ranks, in units of the tolerance.
struct verify_row {
  std::string parameter;
  std::string layer;  ///< path of the layer that has it
  double gradient = 0, update = 0, slots = 0;
  std::int64_t updates = 0;    ///< in which a rank changed it
  std::int64_t gradients = 0;  ///< in which one rank found a gradient, and the learning rate was not zero
  bool trained = false;

  double worst() const { return std::max({gradient, update, slots}); }
  bool never_updated() const { return trained && gradients > 0 && updates == 0; }
};

/// The differences of one update of one network, in units of the tolerance.
struct verify_step {
  std::string name;  ///< "step 1", "step 1, update 2 (critic)"
  double loss = 0, norm = 0, count = 0;
  double loss_alone = 0, loss_here = 0;  ///< on one rank, and on the mesh
  double norm_alone = 0, norm_here = 0;
  bool has_loss = false;  ///< false for the change of a network over a step
};

/// What a step on the mesh sends, on rank 0.
struct verify_messages {
  std::string over;  ///< "dp"
  std::int64_t planned_calls = 0, counted_calls = 0, planned_bytes = 0, counted_bytes = 0;

  bool equal() const { return planned_calls == counted_calls && planned_bytes == counted_bytes; }
};

/// What a verification found: steps of the user's own job on one rank and on the mesh, compared.
struct verify_result {
  redco::mesh mesh;
  std::string computed;  ///< "f64"
  verify_tolerance tolerance;
  std::vector<verify_step> steps;
  std::vector<verify_row> rows;  ///< one per parameter, worst first
  std::vector<verify_messages> messages;
  std::string messages_remark;  ///< why messages were not compared; empty where they were
  std::string first;            ///< what differs first; empty where nothing does
  /// Path of the first layer that gives something else on the mesh or, where the losses agree, of
  /// the last whose input gets another gradient; empty if unknown.
  std::string layer;
  bool forward_differs = false;  ///< the losses of the first update that differs

  bool ok() const;

  /// The table, worst first, at most `most` rows, and the verdict.
  std::string text(std::size_t most = 20) const;

  /// One sentence: the verdict.
  std::string verdict() const;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/run/verify_result.inl.hpp>
#endif
