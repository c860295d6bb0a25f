#pragma once

#include <redco/layer/block_pattern.hpp>
#include <redco/layer/block_set.hpp>
#include <redco/layer/extent_of.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::layers {

/// A choice of the attention projections (q, k, v, o) that have a bias. A bool converts to all
/// (`true`) or none (`false`).
struct projection_biases {
  bool qkv = true;
  bool o = true;

  constexpr projection_biases(bool all) : qkv(all), o(all) {}
  constexpr projection_biases(bool of_qkv, bool of_o) : qkv(of_qkv), o(of_o) {}
};

/// The sizes and options of an attention layer other than its width and heads. Each trait (option)
/// of the layer sets some of them in its function `apply(config, form)`.
struct attention_form {
  std::int64_t key_value_heads = 0;
  std::int64_t head_dim = 0;  ///< Number of features per head; 0: width / heads
  projection_biases biases = true;
  double dropout = 0;  ///< Dropout probability of attention probabilities
  /// Standard deviation of the initial weights of the query projection; 0: the model's default.
  double query_deviation = 0;
  /// Standard deviation of the initial weights of the output projection; 0: the model's default.
  double output_deviation = 0;
  /// True to normalise queries and keys by their root mean square, within each head
  bool query_key_norm = false;
  /// True if the root mean square of `query_key_norm` is over all heads together
  bool norm_over_heads = false;
  double norm_epsilon = 0;
  int norm_offset = 0;  ///< The factor of a feature is norm_offset + its norm weight
  bool sinks = false;   ///< True if each head has a trained sink
};

/// Choices of the feature pairs that rotate together: i and i + half of the rotated features
/// (`halves`, LLaMA), or 2i and 2i + 1 (`neighbours`, GPT-J).
enum class rotary_pairs : unsigned char { halves, neighbours };

/// Kinds of rotary frequencies, named as in Hugging Face configs (`standard` is "default" there).
/// All others scale the frequencies of `standard` for sequences longer than in training.
enum class rotary_kind : unsigned char { standard, linear, dynamic, yarn, longrope, llama3 };

/// A list of divisors of rotary frequencies, one per feature pair. Its capacity is fixed, so that
/// it can be part of a constexpr config.
struct rotary_divisors {
  static constexpr std::size_t capacity = 64;
  std::array<float, capacity> values = {};
  std::size_t count = 0;

  constexpr float const* begin() const { return values.data(); }
  constexpr float const* end() const { return values.data() + count; }
  friend constexpr bool operator==(rotary_divisors const&, rotary_divisors const&) = default;
};

/// The scaling of rotary frequencies. Each kind uses some of the members; the table in
/// docs/pretrained.md lists the formulas.
struct rotary_scaling {
  rotary_kind kind = rotary_kind::standard;
  double factor = 1;  ///< Divisor of frequencies; for `dynamic`, factor on the growth of theta
  /// Turns within `context`: pairs with fewer turns are divided by `factor` (yarn, llama3)
  double low_frequency = 1;
  /// Turns within `context`: pairs with more turns are unchanged (yarn, llama3)
  double high_frequency = 4;
  std::int64_t context = 8192;  ///< Sequence length in training, in tokens
  double amplitude = 1;         ///< Factor on rotated queries and keys (yarn, longrope)
  /// True to round the borders between divided and unchanged pairs to whole pairs (yarn)
  bool whole_pairs = true;
  rotary_divisors divisors = {};       ///< Divisors up to `context` tokens (longrope)
  rotary_divisors long_divisors = {};  ///< Divisors for longer sequences (longrope)

  friend constexpr bool operator==(rotary_scaling const&, rotary_scaling const&) = default;
};

/// The rotary angles of queries and keys: pair i of `dims` rotated features is rotated by position
/// * theta^(-2i / dims).
struct rotary_angles {
  /// Number of features per head that are rotated, from the first on; 0: none
  std::int64_t dims = 0;
  double theta = 10000;
  rotary_pairs pairs = rotary_pairs::halves;
  rotary_scaling scaling;

  friend constexpr bool operator==(rotary_angles const&, rotary_angles const&) = default;
};

/// The options for attention scores, which are scale * q k^T, with a soft cap, plus biases. Each
/// trait (option) of an attention layer changes some of them in its function `apply(config,
/// head_dim, scores)`.
struct attention_scores {
  double scale = 1;
  /// Bound c of the scaled scores s, which become c * tanh(s / c) before biases and masks; 0: none
  double soft_cap = 0;
  /// Number of keys that a query attends to, the last at its own position; 0: all keys that the
  /// kind of attention allows.
  std::int64_t window = 0;
  block_pattern pattern = {};   ///< Blocks of keys that a query attends to
  block_set dense_blocks = {};  ///< Blocks whose attention layers have no `pattern`
  rotary_angles rotary = {};
  block_set unrotated = {};  ///< Blocks whose attention layers have no rotary positions
  /// Blocks whose queries attend to all keys. Their rotary angles have `full_theta` and
  /// `full_scaling`.
  block_set full_blocks = {};
  double full_theta = 0;
  rotary_scaling full_scaling = {};

  /// Returns the options of the attention layer in a block of the outermost `repeat`.
  constexpr attention_scores of_block(std::int64_t block) const {
    attention_scores own = *this;
    if (full_blocks.has(block)) own.window = 0, own.rotary.theta = full_theta, own.rotary.scaling = full_scaling;
    if (unrotated.has(block)) own.rotary.dims = 0;
    if (dense_blocks.has(block)) own.pattern = {};
    return own;
  }
};

}  // namespace redco::layers

namespace redco {

/// A trait (option) of an attention layer that sets the number of key-value heads. The default is
/// the number of query heads.
///
/// An attention trait is a type with a name `trait_name`, which a layer accepts once. Its function
/// `apply(config, form)` changes sizes, or `apply(config, head_dim, scores)` changes the
/// computation of scores. Cross-attention rejects a trait with a member `of_self_attention`; only
/// causal attention accepts one with a member `of_causal_attention`.
template <auto Count>
struct key_value_heads {
  static constexpr std::string_view trait_name = "key_value_heads";

  template <class Config>
  static constexpr void apply(Config const& config, layers::attention_form& form) {
    form.key_value_heads = layers::extent_of<Count>(config);
  }
};

}  // namespace redco

namespace redco::layers {

/// A trait (option) of an attention layer that sets the number of features per head, independent of
/// the layer's width. The default and the value 0 mean width / heads.
template <auto Features>
struct head_dim {
  static constexpr std::string_view trait_name = "head_dim";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    if (extent_of<Features>(config) > 0) form.head_dim = extent_of<Features>(config);
  }
};

/// A trait (option) of an attention layer that selects the projections with biases. `Biases` is a
/// bool (all or none) or a `projection_biases`. By default, all four projections have biases.
template <auto Biases>
struct biased {
  static constexpr std::string_view trait_name = "biased";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.biases = extent_of<Biases>(config);
  }
};

/// A trait (option) of an attention layer that sets the dropout probability of the attention
/// probabilities. The default is 0.
template <auto Probability>
struct attention_dropout {
  static constexpr std::string_view trait_name = "attention_dropout";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.dropout = static_cast<double>(extent_of<Probability>(config));
  }
};

/// A trait (option) of an attention layer that sets the standard deviation of the initial weights
/// of the query projection. The default and the value 0 mean the model's deviation for all weights.
template <auto Deviation>
struct query_deviation {
  static constexpr std::string_view trait_name = "query_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.query_deviation = static_cast<double>(extent_of<Deviation>(config));
  }
};

/// A trait (option) of an attention layer that sets the standard deviation of the initial weights
/// of the output projection. The default and the value 0 mean the model's deviation for all
/// weights.
template <auto Deviation>
struct output_deviation {
  static constexpr std::string_view trait_name = "output_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.output_deviation = static_cast<double>(extent_of<Deviation>(config));
  }
};

/// A trait (option) of self-attention that normalises queries and keys of each head by their root
/// mean square (Henry et al. 2020), before rotation. The weights "q_norm.weight" and
/// "k_norm.weight" [head_dim] are shared by all heads. The factor of a feature is `Offset` + its
/// weight, as in rms_norm. If `OverHeads` is true, the root mean square is over all heads together,
/// and each feature has a weight; `Offset` is then 0. No effect if `Enabled` is false.
template <auto Enabled = true, auto Epsilon = real{1e-6}, bool OverHeads = false, int Offset = 0>
struct query_key_norm {
  static_assert(!OverHeads || Offset == 0, "query_key_norm over all heads has no offset");
  static constexpr std::string_view trait_name = "query_key_norm";
  static constexpr bool of_self_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.query_key_norm = extent_of<Enabled>(config);
    form.norm_over_heads = OverHeads;
    form.norm_epsilon = static_cast<double>(extent_of<Epsilon>(config));
    form.norm_offset = Offset;
  }
};

/// A trait (option) of self-attention that adds rotary positions (Su et al. 2021): the first `Dims`
/// features of each query and key head are rotated by angles position * frequency (0: all
/// features), except in the blocks `Unrotated`, a `block_set`. Queries and keys are rotated in
/// place before they are saved. Backward computes the angles again and rotates the gradients back.
template <auto Theta = real{10000}, auto Dims = 0, rotary_pairs Pairs = rotary_pairs::halves,
          auto Scaling = rotary_scaling{}, auto Unrotated = block_set{}>
struct rotary {
  static constexpr std::string_view trait_name = "rotary";
  static constexpr bool of_self_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t head_dim, attention_scores& scores) {
    std::int64_t const dims = extent_of<Dims>(config);
    scores.rotary = {dims > 0 ? dims : head_dim, static_cast<double>(extent_of<Theta>(config)), Pairs,
                     extent_of<Scaling>(config)};
    scores.unrotated = extent_of<Unrotated>(config);
  }
};

/// A trait (option) of causal attention: a query attends to the key at its own position and to the
/// Keys - 1 keys before it (Beltagy et al. 2020). 0: all keys.
template <auto Keys>
struct sliding_window {
  static constexpr std::string_view trait_name = "sliding_window";

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t, attention_scores& scores) {
    scores.window = extent_of<Keys>(config);
  }
};

/// A trait (option) of causal attention in a stack whose blocks differ (Gemma 3). Queries of the
/// blocks `Blocks`, a `block_set`, attend to all earlier keys, with the rotary angles of `Theta`
/// and `Scaling`. The other blocks have the options of the traits `sliding_window` and `rotary`.
template <auto Blocks, auto Theta, auto Scaling = rotary_scaling{}>
struct full_in_blocks {
  static constexpr std::string_view trait_name = "full_in_blocks";
  static constexpr bool of_self_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t, attention_scores& scores) {
    scores.full_blocks = extent_of<Blocks>(config);
    scores.full_theta = static_cast<double>(extent_of<Theta>(config));
    scores.full_scaling = extent_of<Scaling>(config);
  }
};

/// A trait (option) of attention that multiplies q k^T by `Factor` instead of 1 / sqrt(head_dim).
template <auto Factor>
struct score_factor {
  static constexpr std::string_view trait_name = "score_factor";

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t, attention_scores& scores) {
    scores.scale = static_cast<double>(extent_of<Factor>(config));
  }
};

/// A trait (option) of attention: scores are q k^T without the factor 1 / sqrt(head_dim). Instead,
/// the standard deviation of q's initial weights has this factor, unless an enclosing layer or the
/// trait `query_deviation` sets the deviation.
struct unscaled {
  static constexpr std::string_view trait_name = "unscaled";

  template <class Config>
  static constexpr void apply(Config const&, std::int64_t, attention_scores& scores) {
    scores.scale = 1;
  }
};

/// A trait (option) of attention that bounds the scaled scores s by Bound * tanh(s / Bound), before
/// biases and masks (Gemma 2). The derivative of the bound is computed again in backward. 0: no
/// bound.
template <auto Bound>
struct soft_capped {
  static constexpr std::string_view trait_name = "soft_capped";

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t, attention_scores& scores) {
    scores.soft_cap = static_cast<double>(extent_of<Bound>(config));
  }
};

/// A trait (option) of an attention layer that adds a learned bias by distance to the scores. The
/// enclosing `with_distance_bias` layer owns the bias.
struct distance_biased {
  static constexpr std::string_view trait_name = "distance_biased";
};

}  // namespace redco::layers
