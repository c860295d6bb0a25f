#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redco {

/// The largest differences that rounding can explain. Loss and gradient norm: relative to their
/// values. Gradient and slot: relative to the tensor's largest element, or to `floor` times the
/// network's. Update: relative to the network's largest update.
struct verify_tolerance {
  double loss, norm, gradient, update, slot, floor;
  /// Least gradient, relative to the tensor's largest, at which updates and slots are compared.
  /// Optimizers that divide by the gradient's size amplify the rounding of gradients near zero.
  double least_gradient;

  /// Returns the tolerance of a run that computes in this dtype.
  static verify_tolerance of(at::ScalarType computed);
};

/// The largest differences of one parameter over all steps and ranks, in units of the tolerance.
struct verify_row {
  std::string parameter;
  std::string layer;  ///< path of the layer that owns the parameter
  double gradient = 0, update = 0, slots = 0;
  std::int64_t updates = 0;  ///< number of updates in which a rank changed the parameter
  /// Number of updates with a gradient on one rank and a learning rate above 0.
  std::int64_t gradients = 0;
  bool trained = false;

  double worst() const { return std::max({gradient, update, slots}); }
  bool never_updated() const { return trained && gradients > 0 && updates == 0; }
};

/// The differences of one update of one network, in units of the tolerance.
struct verify_step {
  /// Name such as "step 1" or "step 1, update 2 (critic)".
  std::string name;
  double loss = 0, norm = 0, count = 0;
  double loss_alone = 0, loss_here = 0;  ///< loss on one rank, and on the mesh
  double norm_alone = 0, norm_here = 0;
  /// False if the record is the change of a network over a step.
  bool has_loss = false;
};

/// The messages of a step on the mesh, planned and counted on rank 0.
struct verify_messages {
  std::string over;  ///< axes of the group, such as "dp"
  std::int64_t planned_calls = 0, counted_calls = 0, planned_bytes = 0, counted_bytes = 0;

  bool equal() const { return planned_calls == counted_calls && planned_bytes == counted_bytes; }
};

/// The result of a verification: steps of the user's own job, compared between one rank and the
/// mesh.
struct verify_result {
  redco::mesh mesh;
  std::string computed;  ///< dtype, such as "f64"
  verify_tolerance tolerance;
  std::vector<verify_step> steps;
  std::vector<verify_row> rows;  ///< one row per parameter, worst first
  std::vector<verify_messages> messages;
  /// Reason why messages were not compared; empty if they were.
  std::string messages_remark;
  /// Name of the first difference; empty if nothing differs.
  std::string first;
  /// Path of the first layer with a different output on the mesh. If the losses agree, path of the
  /// last layer whose input gets another gradient. Empty if unknown.
  std::string layer;
  /// True if the losses differ in the first update that differs.
  bool forward_differs = false;

  bool ok() const;

  /// Returns the table of differences, worst first, with at most `most` rows of parameters.
  std::string text(std::size_t most = 20) const;

  /// Returns the verdict in one sentence.
  std::string verdict() const;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/run/verify_result.inl.hpp>
#endif
