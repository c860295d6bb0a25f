#pragma once

#include <redco/layer/attention_traits.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/sparse_traits.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/fact/side_products.hpp>
#include <redco/shape/bytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace redco::layers {

/// Kinds of attention, by the positions that a query attends to. `causal`: its own and earlier
/// positions; `full`: all positions; `cross`: the encoder's output.
enum class attention_kind : unsigned char { causal, full, cross };

}  // namespace redco::layers

namespace redco::layers::detail {

/// Returns true if each of `Traits` is an option that attention of this kind accepts, and no option
/// is given twice.
template <attention_kind Kind, class... Traits>
constexpr bool are_attention_traits() {
  if constexpr (!(requires { std::string_view(Traits::trait_name); } && ...)) {
    return false;
  } else if constexpr (Kind == attention_kind::cross && (requires { Traits::of_self_attention; } || ...)) {
    return false;
  } else if constexpr (Kind != attention_kind::causal && (requires { Traits::of_causal_attention; } || ...)) {
    return false;
  } else {
    std::array<std::string_view, sizeof...(Traits)> const names{Traits::trait_name...};
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (names[i] == names[j]) return false;
    return true;
  }
}

/// Calls Trait::apply(arguments...) if the attention trait has a function for these arguments;
/// otherwise does nothing.
template <class Trait, class... Arguments>
constexpr void apply_trait(Arguments&&... arguments) {
  if constexpr (requires { Trait::apply(arguments...); }) Trait::apply(arguments...);
}

}  // namespace redco::layers::detail

namespace redco::layers {

/// A scaled dot-product attention layer (Vaswani et al. 2017) over [B, T, Width], split by heads
/// over the ranks. Weights q [Heads * head_dim, Width], k and v [key_value_heads * head_dim, Width]
/// are column-parallel. Weight o [Width, Heads * head_dim] is row-parallel, so the result is a
/// pending sum over the ranks. Query heads may share fewer key-value heads (Ainslie et al. 2023).
/// With fewer key-value heads than ranks, neighbouring ranks hold equal ones. `Traits`, in any
/// order, are options such as `key_value_heads`, `biased` and `rotary`. Compile error: redco[L008]
/// for an option given twice, or a type that is no option.
template <attention_kind Kind, auto Width, auto Heads, class... Traits>
struct attention {
  using layer_concept = leaf_tag;
  static constexpr bool enters = true;
  static constexpr attention_kind kind = Kind;
  static constexpr bool is_distance_biased = (std::is_same_v<Traits, distance_biased> || ...);
  static constexpr bool by_token = Kind != attention_kind::cross && !is_distance_biased;
  static constexpr bool is_unscaled = (std::is_same_v<Traits, unscaled> || ...);

  template <class X>
  using out = typename detail::takes<detail::needs::features, X, shape::partial>::type;

  /// Returns the sizes of this attention layer for a model's config. It also checks the layer's
  /// traits at compile time. A class could not: clang drops names that a class declares after a
  /// failed static_assert.
  template <class Config>
  static constexpr attention_form form(Config const& config) {
    static_assert(
        detail::are_attention_traits<Kind, Traits...>(),
        "redco[L008]: an attention is given a trait twice, or a type that is no trait of it; give each trait at most "
        "once");
    attention_form f;
    std::int64_t const heads = extent_of<Heads>(config);
    f.key_value_heads = heads;
    f.head_dim = heads > 0 ? extent_of<Width>(config) / heads : 0;
    (detail::apply_trait<Traits>(config, f), ...);
    return f;
  }

  /// Returns the options for attention scores (scale, window, biases) of this layer for a model's
  /// config.
  template <class Config>
  static constexpr attention_scores scores(Config const& config) {
    std::int64_t const dim = form(config).head_dim;
    // Wrong sizes, such as 0 heads, are found later.
    attention_scores s{.scale = 1.0 / square_root(static_cast<double>(dim > 0 ? dim : 1))};
    (detail::apply_trait<Traits>(config, dim, s), ...);
    return s;
  }

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", extent_of<Width>(config)),
                       heads = w.size("heads", extent_of<Heads>(config));
    attention_form const sizes = form(config);
    std::int64_t const kv = w.size("key-value heads", sizes.key_value_heads);
    if (!has_own_head_dim(config)) w.multiple("features", width, "heads", heads);
    std::int64_t const dim = w.size("features of a head", heads == extent_of<Heads>(config) ? sizes.head_dim : 1);
    w.multiple("heads", heads, "key-value heads", kv);
    if (sizes.head_dim > 0 && heads == extent_of<Heads>(config))
      w.multiple("rotary features of a head", scores(config).rotary.dims, "features of a pair", 2);
    bool const has_pattern = detail::pattern_facts(w, scores(config).pattern);

    if (!w.expect_rank(3)) return;
    w.expect_features(width);
    if constexpr (Kind == attention_kind::cross) {
      if (!w.expect_rank(w.encoded, 3)) return;
      w.expect(w.encoded, "features", -1, width);
    }
    fact::detail::enter_facts<X>(w);
    fact::flow const input = w.activation;
    w.save("input");
    if constexpr (Kind == attention_kind::cross) {
      w.enter(w.encoded);
      w.read(w.encoded);
    }
    double const outer = w.deviation;
    // Self-attention reads q, k and v as one matrix; cross-attention reads k and v so.
    auto const is_joined = [](std::string_view name) {
      return name == "v" || (name == "k" && Kind != attention_kind::cross);
    };
    auto const project = [&](std::string_view name, std::int64_t units, fact::reason why, shape::remainder rest,
                             double gain = 1, double prescribed = 0) {
      fact::parameter_fact weight;
      weight.shape = {units * dim, width};
      weight.split(shape::axis::tp, 0, units, rest);
      weight.is_joined = is_joined(name);
      weight.why = why;
      weight.start = {fact::initial::kind::normal, fan_in_deviation(width, gain)};
      if (prescribed > 0) w.deviation = prescribed;
      w.inside(name, [&] { w.parameter("weight", weight); });
      w.deviation = outer;
      return weight;
    };
    auto const bias = [&](std::string_view name, std::int64_t units,
                          shape::remainder rest = shape::remainder::refused) {
      fact::parameter_fact fact;
      fact.shape = {units * dim};
      fact.split(shape::axis::tp, 0, units, rest);
      fact.decay = false;
      fact.is_joined = is_joined(name);
      fact.why = fact::reason::column_bias;
      w.inside(name, [&] { w.parameter("bias", fact); });
    };
    fact::reason const kv_why = kv == heads ? fact::reason::heads : fact::reason::key_value_heads;
    shape::remainder const shared = kv == heads ? shape::remainder::refused : shape::remainder::shared;
    fact::parameter_fact const q =
        project("q", heads, fact::reason::heads, shape::remainder::refused,
                is_unscaled ? 1.0 / square_root(static_cast<double>(dim)) : 1.0, sizes.query_deviation);
    fact::parameter_fact const k = project("k", kv, kv_why, shared), v = project("v", kv, kv_why, shared);
    projection_biases const biases = sizes.biases;
    if (biases.qkv) {
      bias("q", heads);
      bias("k", kv, shared);
      bias("v", kv, shared);
    }

    std::int64_t const rows = input.shape[0], length = input.shape[1];
    std::int64_t const keys = Kind == attention_kind::cross ? w.encoded.shape[1] : length;
    fact::flow key_values{{rows, keys, 2 * kv * dim}, 2, kv};
    // Self-attention stores q, k and v in one matrix; cross-attention stores q separately.
    if (kv != heads) {
      constexpr bool packed = Kind != attention_kind::cross;
      if (biases.qkv) w.share(kv, {2 * kv * dim}, {heads * dim}, packed ? heads : 0, input);
      w.share(kv, {2 * kv * dim, width}, {heads * dim, width}, packed ? heads : 0, input);
    }
    if (sizes.sinks) detail::sink_facts(w, heads);
    w.produce({rows, length, heads * dim}, 2, heads);
    fact::flow const queries = w.activation;
    w.multiply(rows * length, width, heads * dim);
    w.multiply(rows * keys, width, 2 * kv * dim);
    if constexpr (Kind == attention_kind::cross) {
      fact::state_side_products(w, input, {{"q", q}});
      fact::state_side_products(w, w.encoded, {{"k", k}, {"v", v}});
    } else {
      fact::state_side_products(w, input, {{"q", q}, {"k", k}, {"v", v}}, false, "qkv");
    }
    w.backward(input);
    w.workspace("key_value_gradient", key_values);
    w.weight_gradient({heads * dim, width}, 0, heads);
    w.weight_gradient({2 * kv * dim, width}, 0, kv);
    if (sizes.query_key_norm && sizes.norm_over_heads) whole_norm_facts(w, dim, kv, shared, input);
    if (sizes.query_key_norm && !sizes.norm_over_heads) norm_facts(w, dim, kv, norm_start(sizes.norm_offset));

    // Ranks with parts of the sequences exchange tokens for heads, or pass keys and values round.
    std::int64_t const parts = Kind == attention_kind::cross ? 1 : w.sequences.parts;
    bool const exchanges =
        parts > 1 && heads % (parts * w.sequences.shards) == 0 && kv % (parts * w.sequences.shards) == 0;
    std::int64_t const own = exchanges ? heads / parts : heads, own_kv = exchanges ? kv / parts : kv;
    std::int64_t const all = exchanges ? w.sequences.whole : length, all_keys = parts > 1 ? w.sequences.whole : keys;
    if (exchanges) {
      exchange_facts(w, {{rows, length, (heads + 2 * kv) * dim}, 2, kv}, {rows, all, own * dim}, own);
      key_values = {{rows, all, 2 * own_kv * dim}, 2, own_kv};
    } else if (parts > 1) {
      ring_facts(w, key_values, parts);
    }
    fact::flow const asked = w.activation;

    w.save("q");
    if constexpr (Kind == attention_kind::cross)
      w.save("key_value", key_values.shape, 2, fact::width_kind::compute, kv);
    else w.save_adjacent("key_value", key_values.shape, 2, fact::width_kind::compute, own_kv);
    w.save("log_sum_exp", {rows, own, all}, 1, fact::width_kind::accumulate, own);
    w.produce(asked.shape, 2, own, fact::making::attention);
    w.save("output");
    bool const sized = heads == extent_of<Heads>(config) && sizes.head_dim > 0;
    std::int64_t const seen = sized ? seen_keys(scores(config), w.blocks(), all_keys) : all_keys;
    if (sized && has_pattern) {
      std::int64_t const each = detail::live_scores(scores(config), w.blocks(), heads, all_keys, seen) / parts;
      std::int64_t const pairs = shape::saturating_multiply(rows, each);
      w.multiply(pairs, dim, 1);  // The scores.
      w.multiply(1, pairs, dim);  // The weighted sums of values.
    } else {
      w.multiply(rows * own * all, dim, seen);  // The scores.
      w.multiply(rows * own * all, seen, dim);  // The weighted sums of values.
    }
    w.backward(asked);
    w.workspace("key_value_gradient", key_values);
    if (parts > 1 && !exchanges) {
      // A ring sums gradients of its queries, and of two blocks of keys and values.
      w.workspace("query_sums", asked, fact::width_kind::accumulate);
      w.workspace("block_sums", key_values, fact::width_kind::accumulate);
      w.workspace("received_block_sums", key_values, fact::width_kind::accumulate);
    }
    if (sizes.sinks) w.workspace("sink_gradient", {{rows, own}, 1, own}, fact::width_kind::accumulate);
    if (exchanges) {
      exchange_facts(w, queries, queries.shape, heads);
      w.save("joined_heads");
    }
    fact::flow const attended = w.activation;
    if constexpr (is_distance_biased) w.workspace("distance_gradient", {{heads, length + keys - 1}, 0, heads});

    fact::parameter_fact o;
    o.shape = {width, heads * dim};
    o.split(shape::axis::tp, 1, heads);
    o.why = fact::reason::row;
    o.start = {fact::initial::kind::normal, fan_in_deviation(heads * dim)};
    fact::parameter_fact o_bias;
    o_bias.shape = {width};
    o_bias.decay = false;
    o_bias.why = fact::reason::row_bias;
    if (sizes.output_deviation > 0) w.deviation = sizes.output_deviation;
    w.inside("o", [&] {
      w.parameter("weight", o);
      if (biases.o) w.parameter("bias", o_bias), w.addend();
    });
    w.deviation = outer;
    w.produce(input.shape);
    w.multiply(rows * length, heads * dim, width);
    fact::state_side_products(w, attended, {{"o", o}});
    w.backward(attended);
    w.weight_gradient(o.shape, 1, heads);
  }

 private:
  /// Declares that ranks along cp exchange parts of the tensor `sent`, forward and backward. The
  /// result of the shape `made` has `units` heads.
  static constexpr void exchange_facts(fact::recorder& w, fact::flow const& sent, extents const& made,
                                       std::int64_t units) {
    for (bool const backward : {false, true})
      w.message(shape::collective::all_to_all, backward, sent.shape, fact::width_kind::compute, 1, shape::axis::cp,
                sent.units);
    fact::flow const before = w.activation;
    w.produce(made, 2, units, fact::making::function);
    w.backward(before);
  }

  /// Declares that the keys and values `sent` go round the ranks along cp in forward and backward,
  /// and that their gradients do so in backward. Shards that hold equal heads send them each.
  static constexpr void ring_facts(fact::recorder& w, fact::flow const& sent, std::int64_t parts) {
    for (auto const call : {shape::collective::send, shape::collective::recv}) {
      for (bool const backward : {false, true})
        w.message(call, backward, sent.shape, fact::width_kind::compute, parts - 1, shape::axis::cp, sent.units);
      w.message(call, true, sent.shape, fact::width_kind::accumulate, parts, shape::axis::cp, sent.units);
    }
  }

  /// Returns true if an option of the layer sets the number of features per head, instead of width
  /// / heads.
  template <class Config>
  static constexpr bool has_own_head_dim(Config const& config) {
    attention_form f;
    (detail::apply_trait<Traits>(config, f), ...);
    return f.head_dim > 0;
  }

  /// Returns the number of keys to which a query attends at most, of `keys` keys: the mean over the
  /// blocks of a slice, rounded down.
  static constexpr std::int64_t seen_keys(attention_scores const& s, fact::block_slice const& slice,
                                          std::int64_t keys) {
    std::int64_t const windowed = s.window > 0 && s.window < keys ? s.window : keys;
    if (s.full_blocks == block_set{} || slice.count() < 1) return windowed;
    std::int64_t full = 0;
    for (std::int64_t i = slice.first; i < slice.times; i += slice.step) full += s.full_blocks.has(slice.base + i);
    return windowed + (keys - windowed) * full / slice.count();
  }

  /// Declares to the recorder `w` the parameters, saved tensors and messages of the normalisation
  /// of queries and keys. The recorder's current activation must be the queries. Each rank uses the
  /// norm weights for its own heads, so their gradients are summed over the ranks.
  static constexpr void norm_facts(fact::recorder& w, std::int64_t dim, std::int64_t kv, fact::initial start) {
    fact::flow const queries = w.activation;
    std::int64_t const rows = queries.shape[0], length = queries.shape[1];
    fact::parameter_fact weight;
    weight.shape = {dim};
    weight.decay = false;
    weight.start = start;
    weight.why = fact::reason::norm;
    for (std::string_view const name : {"q_norm", "k_norm"}) {
      w.inside(name, [&] { w.parameter("weight", weight); });
      weight.is_joined = true;
    }
    w.sum_of_gradient({2 * dim});

    auto const norm = [&](std::string_view name, std::int64_t heads) {
      w.inside(name, [&] {
        fact::flow input{{rows, length, heads * dim}, 2, heads};
        w.save("input", input.shape, 2, fact::width_kind::compute, heads);
        w.save("inverse_deviation", {rows, length, heads}, 2, fact::width_kind::accumulate, heads);
        w.produce(input.shape, 2, heads);
        w.backward(input);
        std::int64_t const blocks = (rows * length * heads + norm_block_rows - 1) / norm_block_rows;
        w.workspace("parameter_gradient_sums", {{2, blocks, dim}, 1, blocks}, fact::width_kind::accumulate);
      });
    };
    norm("k_norm", kv);
    norm("q_norm", queries.units);
  }

  /// Like norm_facts, for a normalisation over all heads together. The weights are split by heads
  /// like queries and keys, and ranks sum the squares of their parts. `shared`: remainder of the
  /// key-value heads. `input`: input of the attention layer.
  static constexpr void whole_norm_facts(fact::recorder& w, std::int64_t dim, std::int64_t kv, shape::remainder shared,
                                         fact::flow const& input) {
    fact::flow const queries = w.activation;
    std::int64_t const rows = queries.shape[0], length = queries.shape[1], heads = queries.units;
    auto const weight = [&](std::string_view name, std::int64_t units, shape::remainder rest) {
      fact::parameter_fact fact;
      fact.shape = {units * dim};
      fact.split(shape::axis::tp, 0, units, rest);
      fact.decay = false;
      fact.is_joined = name == "k_norm";
      fact.start = {fact::initial::kind::ones, 0};
      fact.why = fact::reason::norm;
      w.inside(name, [&] { w.parameter("weight", fact); });
    };
    weight("q_norm", heads, shape::remainder::refused);
    weight("k_norm", kv, shared);
    if (kv != heads) w.share(kv, {kv * dim}, {heads * dim}, heads, input);

    auto const norm = [&](std::string_view name, std::int64_t units) {
      w.inside(name, [&] {
        fact::flow part{{rows, length, units * dim}, 2, units};
        w.save("input", part.shape, 2, fact::width_kind::compute, units);
        w.save("inverse_deviation", {rows, length}, -1, fact::width_kind::accumulate);
        w.message(shape::collective::all_reduce, false, {rows, length}, fact::width_kind::accumulate);
        w.produce(part.shape, 2, units);
        w.backward(part);
        w.workspace("normalised", part, fact::width_kind::accumulate);
        w.workspace("weighted_gradient", part, fact::width_kind::accumulate);
        w.message(shape::collective::all_reduce, true, {rows, length}, fact::width_kind::accumulate);
      });
    };
    norm("k_norm", kv);
    norm("q_norm", heads);
  }
};

}  // namespace redco::layers

namespace redco {

/// Attention layer of decoders: a query attends to its own and earlier positions.
template <auto Width, auto Heads, class... Traits>
using causal_attention = layers::attention<layers::attention_kind::causal, Width, Heads, Traits...>;
/// Attention layer of encoders: a query attends to all positions.
template <auto Width, auto Heads, class... Traits>
using full_attention = layers::attention<layers::attention_kind::full, Width, Heads, Traits...>;
/// Attention layer of a decoder whose queries attend to the encoder's output, the context entry
/// `encoder_states`.
template <auto Width, auto Heads, class... Traits>
using cross_attention = layers::attention<layers::attention_kind::cross, Width, Heads, Traits...>;

}  // namespace redco
