#pragma once

#include <redco/nn/routing_record.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/routing_traits.hpp>
#include <redco/shape/sequence_part.hpp>

#include <cstdint>
#include <vector>

namespace redco::nn::detail {

/// The result of a router: the experts of each token and the weights of their results.
struct routed_tokens {
  at::Tensor experts;  ///< Indices of the chosen experts, int64 [tokens, k] in CPU memory
  at::Tensor weights;  ///< Weights of the chosen experts, [tokens, k] in f32 (f64 for f64)
};

/// The tokens of a call of a router. `counted`, bool [sequences, tokens of each], is true for
/// tokens that count in the auxiliary loss; undefined: all count.
struct routed_sequences {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;  ///< Number of tokens of each sequence, including padding
  at::Tensor counted = {};
  /// Number of each token's text, int64 [sequences, tokens of each], less than `texts`.
  /// The auxiliary loss per sequence is then one per text. Undefined: each sequence is one text.
  at::Tensor text = {};
  std::int64_t texts = 0;
  /// Group of the ranks that have the other tokens of these sequences; null if there are none
  comm::group* ranks = nullptr;
  /// Record in which the router looks the tokens up at `place`; null: none
  routing_record* record = nullptr;
  routing_record::place place = {};
  /// The tokens that this rank has of each sequence; null: all
  shape::sequence_part const* part = nullptr;
};

/// Returns the `k` experts of each token with their weights, for router scores [tokens, experts].
/// If `form` has an auxiliary loss, backward of the weights adds its gradient; one all-reduce over
/// `of.ranks` sums its counts. `bias`, [experts], is added to the numbers by which experts are
/// chosen; it may be undefined.
routed_tokens route(at::Tensor const& scores, layers::routing_form const& form, std::int64_t k,
                    routed_sequences const& of, at::Tensor const& bias = {});

/// Adds the number of tokens that each expert got to `loads` [experts]. Does nothing while a block
/// runs again in backward.
void count_loads(at::Tensor const& loads, routed_tokens const& to, routed_sequences const& of);

/// The weights of a rank's experts: [experts, hidden, In] or [experts, In, hidden] for `down`.
struct expert_weights {
  at::Tensor gate;  ///< Undefined for experts without gate
  at::Tensor up, down;
  /// Side products, such as low-rank adapters, of the products with `gate` and `up`, whose columns
  /// are side by side, and of the product with `down`.
  std::vector<expert_factors> of_hidden = {}, of_results = {};
};

/// Returns the weighted sum of the chosen experts' results for each row of `x` [tokens, In]. Sends
/// rows to the ranks of their experts along `ranks` and back; null if this rank has all experts.
/// `count`: number of experts of all ranks. All ranks of the group call it in the same order, with
/// 0 tokens too.
at::Tensor run_experts(at::Tensor const& x, routed_tokens const& to, expert_weights const& weights,
                       layers::activation_kind activation, std::int64_t count, comm::group* ranks);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/detail/routing.inl.hpp>
#endif
