#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::run {

/// The tolerance of a comparison: `noise` times the rounding noise that was measured for the value,
/// plus a fixed part, which the members give relative to a value. Loss, gradient norm and count:
/// their own values. Gradient and optimizer slot: the tensor's largest element, or `floor` times
/// the network's largest. Update: the network's largest update.
struct verify_tolerance {
  /// Factor of the measured noise.
  static constexpr double noise = 8;

  double loss, norm, gradient, update, slot, floor;
  /// Smallest gradient, relative to the network's largest, at which updates and slots are compared.
  /// Optimizers that divide by the size of the gradient amplify rounding errors of small gradients.
  double least_gradient;
  /// Largest allowed difference of a layer's output, relative to its largest element; used to find
  /// the first layer that differs.
  double activation;
  /// Fraction of a tensor's elements whose updates and slots may differ by any amount: rounding may
  /// change the sign of an update.
  double strays;
  /// Allowed difference of the count of tokens or examples.
  static constexpr double count = 1e-6;

  /// Returns the tolerance for networks that compute in the dtype `computed`.
  static verify_tolerance of(at::ScalarType computed);

  /// Returns the distance of 1 from the next number of a dtype.
  static double rounding_of(at::ScalarType type);
};

/// The largest differences of one parameter over all compared steps and ranks, in units of the
/// tolerance: above 1 is a mistake.
struct verify_row {
  std::string parameter;
  std::string layer;  ///< path of the layer that owns the parameter
  double gradient = 0, update = 0, slots = 0;
  std::int64_t updates = 0;  ///< number of updates that changed the parameter
  /// Number of updates in which the parameter has a gradient (on one rank) and the learning rate is
  /// above 0.
  std::int64_t gradients = 0;
  bool trained = false;
  bool held = true;  ///< false if no rank holds some part of the parameter

  double worst() const { return std::max({gradient, update, slots}); }
  bool never_updated() const { return trained && gradients > 0 && updates == 0; }
};

/// The differences between one rank and the mesh in one update of one network: of loss, gradient
/// norm and number of counted tokens or examples. The unit is the tolerance: above 1 is a mistake.
struct verify_step {
  /// Name of the update, such as "step 1" or "step 1, update 2 (critic)".
  std::string name;
  std::string computed;  ///< dtype in which the update was computed, such as "f64"
  double loss = 0, norm = 0, count = 0;
  double loss_alone = 0, loss_here = 0;  ///< losses on one rank and on the mesh
  double norm_alone = 0, norm_here = 0;
  /// True if a token or example counted in a loss of the update. False for a record of a network's
  /// change that has no loss.
  bool has_loss = false;
  /// False if the noise is unknown, because one rank takes other steps after slight changes; then
  /// nothing is compared.
  bool is_measured = true;
};

/// The messages of a step in one group of the mesh, as planned and as counted on rank 0.
struct verify_messages {
  std::string over;  ///< mesh axes of the group, such as "dp"
  std::int64_t planned_calls = 0, counted_calls = 0, planned_bytes = 0, counted_bytes = 0;

  bool equal() const { return planned_calls == counted_calls && planned_bytes == counted_bytes; }

  /// Returns a phrase with the planned and the counted messages.
  std::string difference() const;
};

/// The result of --verify: differences between the first steps of the user's training on one rank
/// and on the mesh.
struct verify_result {
  redco::mesh mesh;
  std::string computed;  ///< dtypes in which the networks computed, such as "f64" or "bf16 and f64"
  verify_tolerance tolerance;
  std::vector<verify_step> steps;
  std::vector<verify_row> rows;  ///< one row per parameter, largest differences first
  std::vector<verify_messages> messages;
  /// Reason why the messages were not compared with the plan; empty if they were.
  std::string messages_remark;
  /// Number of choices of experts with tied scores that the ranks of this process made as one rank
  std::int64_t replayed = 0;
  /// Phrase that names the first difference; empty if nothing differs.
  std::string first;
  /// Path of the first layer whose output on the mesh differs. If the losses agree, path of the
  /// last layer whose input gets a different gradient. Empty if unknown.
  std::string layer;
  /// True if the losses already differ in the first differing update, false if only later results
  /// do.
  bool forward_differs = false;

  bool ok() const { return first.empty(); }

  /// Returns the table of differences as text, with at most `most` rows of parameters, largest
  /// differences first.
  std::string text(std::size_t most = 20) const;

  /// Returns one sentence: one rank and the mesh agree, or the first difference and its layer.
  std::string verdict() const;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/verify_result.inl.hpp>
#endif
