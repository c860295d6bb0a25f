#pragma once

#include <redco/layer/attention_scores.hpp>
#include <redco/layer/distance_biased.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/projection_biases.hpp>
#include <redco/layer/square_root.hpp>
#include <redco/layer/takes.hpp>
#include <redco/layer/unscaled.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/walk.hpp>

#include <type_traits>

namespace redco {

/// What a query may attend to: earlier positions and itself, all positions, or the encoder states of the context.
enum class attention_kind : unsigned char { causal, full, cross };

/// Scaled dot-product attention (Vaswani et al. 2017) with its four projections, cut by whole heads.
///
/// q [Heads*HeadDim, Width], k and v [KeyValueHeads*HeadDim, Width] are column-parallel, o [Width, Heads*HeadDim] is
/// row-parallel, so the result is a partial sum. The q, k and v parameters are neighbours in memory: self-attention computes
/// them as one product. Fewer key-value heads than heads are grouped (Ainslie et al. 2023); with fewer of them than shards,
/// neighbouring ranks share one. `HeadDim` 0 is Width / Heads. `Bias` is a bool or `projection_biases`. `Dropout` acts on
/// the attention probabilities. `OutputDeviation` > 0 draws o with its own deviation. `Traits` change how the scores are
/// made: `rotary`, `sliding_window`, `unscaled`, `distance_biased`.
template <attention_kind Kind, auto Width, auto Heads, auto KeyValueHeads = Heads, auto HeadDim = 0, auto Bias = true,
          auto Dropout = 0, auto OutputDeviation = 0, class... Traits>
struct attention {
  using layer_concept = leaf_tag;
  static constexpr bool enters = true;
  static constexpr attention_kind kind = Kind;
  static constexpr bool is_distance_biased = (std::is_same_v<Traits, distance_biased> || ...);
  static constexpr bool is_unscaled = (std::is_same_v<Traits, unscaled> || ...);

  template <class X>
  using out = typename detail::takes<detail::needs::features, X, partial>::type;

  template <class Config>
  static constexpr std::int64_t head_dim(Config const& config) {
    std::int64_t const declared = of<HeadDim>(config);
    return declared > 0 ? declared : of<Width>(config) / of<Heads>(config);
  }

  /// How scores are made under a config.
  template <class Config>
  static constexpr attention_scores scores(Config const& config) {
    std::int64_t const dim = head_dim(config);
    attention_scores s{.scale = 1.0 / square_root(static_cast<double>(dim))};
    (Traits::apply(config, dim, s), ...);
    return s;
  }

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    std::int64_t const width = w.size("features", of<Width>(config)), heads = w.size("heads", of<Heads>(config));
    std::int64_t const kv = w.size("key-value heads", of<KeyValueHeads>(config));
    std::int64_t const dim = w.size("features of a head", heads == of<Heads>(config) ? head_dim(config) : 1);

    if (!w.expect_rank(3)) return;
    w.expect_features(width);
    if constexpr (Kind == attention_kind::cross) {
      if (!w.expect_rank(w.encoded, 3)) return;
      w.expect(w.encoded, "features", -1, width);
    }
    detail::enter_facts<X>(w);
    flow const input = w.activation;
    w.keep("input");
    if constexpr (Kind == attention_kind::cross) w.enter(w.encoded);
    double const outer = w.deviation;
    auto const project = [&](std::string_view name, std::int64_t units, reason why, remainder rest, double shrink = 1) {
      parameter_fact weight;
      weight.shape = {units * dim, width};
      weight.split(axis::tp, 0, units, rest);
      weight.why = why;
      weight.start = {initial::kind::normal, shrink / square_root(3.0 * static_cast<double>(width))};
      w.deviation = outer * shrink;
      w.inside(name, [&] { w.parameter("weight", weight); });
      w.deviation = outer;
    };
    auto const bias = [&](std::string_view name, std::int64_t units, remainder rest = remainder::refused) {
      parameter_fact fact;
      fact.shape = {units * dim};
      fact.split(axis::tp, 0, units, rest);
      fact.decay = false;
      fact.why = reason::column_bias;
      w.inside(name, [&] { w.parameter("bias", fact); });
    };
    reason const kv_why = kv == heads ? reason::heads : reason::key_value_heads;
    remainder const shared = kv == heads ? remainder::refused : remainder::shared;
    project("q", heads, reason::heads, remainder::refused,
            is_unscaled ? 1.0 / square_root(static_cast<double>(dim)) : 1.0);
    project("k", kv, kv_why, shared);
    project("v", kv, kv_why, shared);
    projection_biases const biased = of<Bias>(config);
    if (biased.qkv) {
      bias("q", heads);
      bias("k", kv, shared);
      bias("v", kv, shared);
    }

    std::int64_t const rows = input.shape[0], length = input.shape[1];
    std::int64_t const keys = Kind == attention_kind::cross ? w.encoded.shape[1] : length;
    flow key_values{{rows, keys, 2 * kv * dim}, 2, kv};
    if (kv != heads) {  // q lies beside k and v but in cross-attention
      constexpr bool packed = Kind != attention_kind::cross;
      if (biased.qkv) w.share(kv, {2 * kv * dim}, {heads * dim}, packed ? heads : 0, input);
      w.share(kv, {2 * kv * dim, width}, {heads * dim, width}, packed ? heads : 0, input);
    }
    w.produce({rows, length, heads * dim}, 2, heads);
    flow const queries = w.activation;
    w.multiply(rows * length, width, heads * dim);
    w.multiply(rows * keys, width, 2 * kv * dim);
    w.backward(input);
    w.workspace("key_value_gradient", key_values);
    w.weight_gradient({heads * dim, width}, 0, heads);
    w.weight_gradient({2 * kv * dim, width}, 0, kv);

    w.keep("q");
    w.keep("key_value", key_values.shape, 2, width_kind::compute, kv);
    w.keep("log_sum_exp", {rows, heads, length}, 1, width_kind::accumulate, heads);
    w.produce(queries.shape, 2, heads);
    flow const attended = w.activation;
    w.keep("output");
    w.multiply(rows * heads * length, dim, keys);  // scores
    w.multiply(rows * heads * length, keys, dim);  // weighted sums of values
    w.backward(queries);
    w.workspace("key_value_gradient", key_values);
    if constexpr (is_distance_biased) w.workspace("distance_gradient", {{heads, length + keys - 1}, 0, heads});

    parameter_fact o;
    o.shape = {width, heads * dim};
    o.split(axis::tp, 1, heads);
    o.why = reason::row;
    o.start = {initial::kind::normal, 1.0 / square_root(3.0 * static_cast<double>(heads * dim))};
    parameter_fact o_bias;
    o_bias.shape = {width};
    o_bias.decay = false;
    o_bias.why = reason::row_bias;
    if (of<OutputDeviation>(config) > 0) w.deviation = static_cast<double>(of<OutputDeviation>(config));
    w.inside("o", [&] {
      w.parameter("weight", o);
      if (biased.o) w.parameter("bias", o_bias), w.addend();
    });
    w.deviation = outer;
    w.produce(input.shape);
    w.multiply(rows * length, heads * dim, width);
    w.backward(attended);
    w.weight_gradient(o.shape, 1, heads);
  }
};

template <auto Width, auto Heads, auto KeyValueHeads = Heads, auto HeadDim = 0, auto Bias = true, auto Dropout = 0,
          auto OutputDeviation = 0, class... Traits>
using causal_attention =
    attention<attention_kind::causal, Width, Heads, KeyValueHeads, HeadDim, Bias, Dropout, OutputDeviation, Traits...>;
template <auto Width, auto Heads, auto KeyValueHeads = Heads, auto HeadDim = 0, auto Bias = true, auto Dropout = 0,
          auto OutputDeviation = 0, class... Traits>
using full_attention =
    attention<attention_kind::full, Width, Heads, KeyValueHeads, HeadDim, Bias, Dropout, OutputDeviation, Traits...>;
template <auto Width, auto Heads, auto KeyValueHeads = Heads, auto HeadDim = 0, auto Bias = true, auto Dropout = 0,
          auto OutputDeviation = 0, class... Traits>
using cross_attention =
    attention<attention_kind::cross, Width, Heads, KeyValueHeads, HeadDim, Bias, Dropout, OutputDeviation, Traits...>;

}  // namespace redco
