#pragma once

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <string_view>

namespace redco::optimizer {

/// A factor by which `muon` multiplies the orthogonal update of a matrix with R rows (outputs) and
/// C columns (inputs).
enum class muon_scale {
  match_rms_adamw,  ///< 0.2 sqrt(max(R, C)): updates are as large as AdamW's, so its rates fit
  original,         ///< sqrt(max(1, R / C)), torch's default
};

/// The optimizer Muon for hidden matrices: the matrices in repeated blocks, except tables. For a
/// matrix `W` with gradient `G` and momentum `M`:
/// - M += (1 - momentum) (G - M);  U = (1 - momentum) G + momentum M with nesterov, otherwise M
/// - O = newton_schulz(U), which moves all singular values of U near 1
/// - W -= lr (weight_decay W + factor O)
///
/// AdamW with rate `adam_rate` lr updates all other parameters. docs/optimizers.md has details.
/// Source: Jordan et al., Muon, 2024; equals torch.optim.Muon in the precision of the masters.
struct muon {
  learning_rate lr = 1e-3;
  double momentum = 0.95;
  bool nesterov = true;
  double weight_decay = 0.1;
  int iterations = 5;  ///< Number of Newton-Schulz iterations
  muon_scale scale = muon_scale::match_rms_adamw;
  double adam_rate = 1;  ///< Factor of the rate of parameters that AdamW updates
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  /// True to apply weight decay to norms and biases too, as torch does with one parameter group.
  bool decay_all = false;
  /// Maximum global norm of the gradients; larger gradients are scaled down to it. 0 disables
  /// clipping.
  double clip_norm = 0;
  norm_kind clip_kind = norm_kind::l2;  ///< Norm that clip_norm limits

  static constexpr std::string_view name = "muon";
  static constexpr bool updates_matrices = true;
  constexpr slot_list slots() const { return {"exp_avg", "exp_avg_sq"}; }
  constexpr slot_list matrix_slots() const { return {"momentum_buffer"}; }
};

}  // namespace redco::optimizer
