#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/detail/sharded_linear.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/nn/token_parts.hpp>
#include <redco/kernel/attention.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/kernel/ring_attention.hpp>
#include <redco/layer/attention.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco {

template <layers::attention_kind Kind, auto Width, auto Heads, class... Traits, class X>
struct module<layers::attention<Kind, Width, Heads, Traits...>, X> {
  using layer = layers::attention<Kind, Width, Heads, Traits...>;
  static constexpr bool cross = Kind == layers::attention_kind::cross;

  template <class Config>
  explicit module(nn::builder<Config>& b) : module(b, layer::form(b.config())) {}

  template <class Config>
  module(nn::builder<Config>& b, layers::attention_form const& form)
      : heads(b.template extent<Heads>() / b.size(shape::axis::tp)),
        kv_heads(std::max<std::int64_t>(1, form.key_value_heads / b.size(shape::axis::tp))),
        head_dim(form.head_dim),
        scores(layer::scores(b.config()).of_block(b.block_index())),
        sharers(static_cast<int>(std::max<std::int64_t>(1, b.size(shape::axis::tp) / form.key_value_heads))),
        tp_index(b.coordinate(shape::axis::tp)),
        divides_heads(heads % b.size(shape::axis::cp) == 0 && kv_heads % b.size(shape::axis::cp) == 0),
        dropout(b.probability(form.dropout)),
        norm_epsilon(form.norm_epsilon),
        norm_over_heads(form.norm_over_heads),
        norm_offset(form.norm_offset),
        site(b.site()),
        cache_slot(b.cache_slot()) {
    if constexpr (cross) {
      q_weight = b.parameter("q.weight");
      weight = b.parameters({"k.weight", "v.weight"});
      if (form.biases.qkv) q_bias = b.parameter("q.bias"), bias = b.parameters({"k.bias", "v.bias"});
      q_sides = b.side_products({"q"});
      sides = b.side_products({"k", "v"});
    } else {
      weight = b.parameters({"q.weight", "k.weight", "v.weight"});
      if (form.biases.qkv) bias = b.parameters({"q.bias", "k.bias", "v.bias"});
      sides = b.side_products({"q", "k", "v"}, "qkv");
    }
    if (scores.rotary.dims > 0 && kernel::depends_on_length(scores.rotary.scaling))
      b.depend_on_length(scores.rotary.scaling.context);
    // The first block with rotary positions by "longrope" sets the limit for all.
    if (scores.rotary.dims > 0 && scores.rotary.scaling.kind == layers::rotary_kind::longrope)
      b.limit_cache(scores.rotary.scaling.context);
    if (form.sinks) sinks = b.parameter("sinks");
    if (form.query_key_norm) norm_weight = b.parameters({"q_norm.weight", "k_norm.weight"});
    o_weight = b.parameter("o.weight");
    if (form.biases.o) o_bias = b.parameter("o.bias");
    o_sides = b.side_products({"o"});
  }

  template <class Context>
  nn::pending_sum operator()(tensor<X> const& x, Context const& ctx) const {
    return nn::detail::leaving_linear(attend(x, ctx), ctx[o_weight], ctx[o_bias], o_sides, ctx);
  }

  std::int64_t heads, kv_heads, head_dim;
  layers::attention_scores scores;
  /// Number of neighbouring ranks that hold equal key-value heads (a sharer group); 1 if every rank
  /// has its own.
  int sharers;
  int tp_index;
  /// True if the ranks along the mesh axis cp divide this rank's heads and key-value heads
  bool divides_heads;
  double dropout, norm_epsilon;
  bool norm_over_heads;
  double norm_offset;
  std::uint32_t site;
  std::size_t cache_slot;
  /// Handles to weight and bias of the query projection; empty except in cross-attention
  parameter q_weight, q_bias;
  /// Handles to the weight and bias of the joined q, k and v projections. In cross-attention they
  /// join only k and v, because q reads another input.
  parameter weight, bias;
  /// Handle to one parameter with the norm weights of queries, then of keys. The handle is empty if
  /// the layer does not normalise queries and keys.
  parameter norm_weight;
  parameter sinks;  ///< Handle to the sinks of this rank's heads; empty without sinks
  parameter o_weight, o_bias;
  /// Side products (such as a low-rank adapter) that an outer layer adds to the query projection;
  /// empty except in cross-attention.
  nn::detail::side_products q_sides;
  nn::detail::side_products sides, o_sides;

 private:
  /// Returns the tensor of `leaf`, the handle of a weight or bias that contains the rows of k and
  /// v. Backward sums the gradient of these rows over the sharer group (neighbouring ranks that
  /// hold equal key-value heads). Returns an undefined tensor for an empty handle.
  template <class Context>
  at::Tensor shared(parameter leaf, Context const& ctx) const {
    return leaf ? comm::enter_shared(ctx[leaf], ctx.tp(), sharers, cross ? 0 : heads * head_dim) : at::Tensor();
  }

  std::vector<at::Tensor> parts_of(at::Tensor const& qkv) const {
    return qkv.split_with_sizes({heads * head_dim, kv_heads * head_dim, kv_heads * head_dim}, -1);
  }

  /// Returns `qkv` (queries, keys and values, packed along the last dimension) with queries and
  /// keys divided by their root mean square, of each head or of all heads. Returns `qkv` unchanged
  /// if the layer has no norm weights.
  template <class Context>
  at::Tensor normed(at::Tensor const& qkv, Context const& ctx) const {
    if (!norm_weight) return qkv;
    if (norm_over_heads) return normed_over_heads(qkv, ctx);
    auto const weights = comm::enter(tensor<shape::replicated>(ctx[norm_weight]), ctx.tp()).local().chunk(2);
    auto const parts = parts_of(qkv);
    auto const norm = [&](std::size_t part) {
      at::Tensor const by_head = parts[part].contiguous().unflatten(-1, {-1, head_dim});
      return nn::detail::in_layer(part == 0 ? "q_norm" : "k_norm", by_head, [&] {
        return kernel::rms_norm(by_head, weights[part], norm_epsilon, norm_offset).flatten(-2);
      });
    };
    return at::cat({norm(0), norm(1), parts[2]}, -1);
  }

  template <class Context>
  at::Tensor normed_over_heads(at::Tensor const& qkv, Context const& ctx) const {
    auto const weights = shared(norm_weight, ctx).split_with_sizes({heads * head_dim, kv_heads * head_dim});
    auto const parts = parts_of(qkv);
    comm::replica_round const ranks{&ctx.tp()};
    auto const norm = [&](std::size_t part) {
      at::Tensor const own = parts[part].contiguous();
      auto const count = static_cast<double>(own.size(-1) * ctx.tp().size());
      return nn::detail::in_layer(part == 0 ? "q_norm" : "k_norm", own, [&] {
        return kernel::split_rms_norm(own, weights[part], norm_epsilon, ranks, count);
      });
    };
    return at::cat({norm(0), norm(1), parts[2]}, -1);
  }

  /// Returns the number of parts of this rank's heads. The ranks along the mesh axis cp exchange
  /// parts of sequences for them.
  std::int64_t parts_of_heads(pass const& in) const { return in.cp != nullptr && divides_heads ? in.cp->size() : 1; }

  /// Returns `qkv` (queries, keys and values, packed along the last dimension) with queries and
  /// keys rotated by their positions. Returns `qkv` unchanged if the layer has no rotary positions.
  template <class Context>
  at::Tensor turned(at::Tensor const& qkv, Context const& ctx) const {
    if (scores.rotary.dims == 0) return qkv;
    nn::key_value_cache const* const cache = ctx.pass().cache;
    kernel::rotation by{(heads + kv_heads) / parts_of_heads(ctx.pass()), head_dim, scores.rotary,
                        cache != nullptr ? cache->length() : 0};
    if (pass const& in = ctx.pass(); in.cp != nullptr && !divides_heads) {
      by.first = in.tokens.all - in.tokens.count();  // A length is by.first and the rows.
      return kernel::rotate(qkv, by, in.positions, in.own_text_lengths);
    }
    return kernel::rotate(qkv, by, nn::detail::set_positions(ctx), ctx.pass().text_lengths);
  }

  template <class Context>
  kernel::attention_options options(at::Tensor const& x, Context const& ctx) const {
    kernel::attention_options o;
    std::int64_t const parts = parts_of_heads(ctx.pass());
    o.heads = heads / parts;
    o.kv_heads = kv_heads / parts;
    o.causal = Kind == layers::attention_kind::causal;
    o.scale = scores.scale;
    o.soft_cap = scores.soft_cap;
    o.window = scores.window;
    o.pattern = scores.pattern;
    std::int64_t const first = parts > 1 ? ctx.pass().cp->rank() * o.heads : 0;
    if (sinks) o.sinks = ctx[sinks].narrow(0, first, o.heads);
    o.head0 = tp_index * heads + first;
    if constexpr (cross) {
      if constexpr (Context::template has<encoder_mask>) o.key_mask = ctx.template get<encoder_mask>();
    } else {
      if constexpr (Context::template has<key_mask>) o.key_mask = ctx.template get<key_mask>();
    }
    o.documents = nn::detail::documents_of(ctx, o.causal && ctx.pass().cache == nullptr);
    if constexpr (layer::is_distance_biased) {
      if constexpr (Context::template require<nn::distance_bias>()) {
        o.bias = ctx.template get<nn::distance_bias>();
        o.distance0 = (o.bias.size(1) - 1) / 2;
      }
    }
    if (ctx.pass().training && dropout > 0) {
      o.dropout = dropout;
      o.key = ctx.at(site);
      o.row0 = ctx.pass().first_row(x.size(0));
    }
    return o;
  }

  /// Returns the attention of this rank's part of the sequences, whose projections are `qkv`. The
  /// ranks exchange tokens for heads if the heads divide, and otherwise pass keys and values round.
  template <class Context>
  at::Tensor attend_in_parts(at::Tensor const& qkv, kernel::attention_options const& o, Context const& ctx) const {
    pass const& in = ctx.pass();
    if (!divides_heads) return kernel::ring_attention(turned(qkv, ctx), o, *in.cp, in.tokens);
    std::vector<std::int64_t> const sizes{heads * head_dim, kv_heads * head_dim, kv_heads * head_dim};
    at::Tensor const whole = turned(nn::detail::heads_of_all_tokens(qkv, sizes, in), ctx);
    return nn::detail::all_heads_of_tokens(kernel::self_attention(whole, o), in);
  }

  template <class Context>
  at::Tensor attend(tensor<X> const& x, Context const& ctx) const {
    if constexpr (cross) {
      if constexpr (Context::template require<nn::encoder_states>()) {
        nn::key_value_cache* const cache = ctx.pass().cache;
        auto const project = [&] {
          at::Tensor const states = comm::enter(ctx.template get<nn::encoder_states>(), ctx.tp()).local();
          return sides.added_to(kernel::linear(states, shared(weight, ctx), shared(bias, ctx)), states, ctx);
        };
        kernel::attention_options const o = options(x.local(), ctx);
        at::Tensor const q = nn::detail::entering_linear(x, ctx[q_weight], ctx[q_bias], q_sides, ctx);
        if (cache != nullptr && cache->length() > 0)
          return kernel::gathered_attention(q, cache->shared(cache_slot, project), o);
        auto const kv = (cache == nullptr ? project() : cache->once(cache_slot, project)).chunk(2, -1);
        return kernel::cross_attention(q, kv[0], kv[1], o);
      } else {
        return {};
      }
    } else {
      nn::key_value_cache* const cache = ctx.pass().cache;
      kernel::attention_options o = options(x.local(), ctx);
      at::Tensor const product = nn::detail::entering_linear(x, shared(weight, ctx), shared(bias, ctx), sides, ctx);
      if (ctx.pass().cp != nullptr) return attend_in_parts(normed(product, ctx), o, ctx);
      at::Tensor const qkv = turned(normed(product, ctx), ctx);
      if (cache == nullptr) return kernel::self_attention(qkv, o);
      auto const parts = parts_of(qkv);
      auto const seen = cache->append(cache_slot, parts[1], parts[2]);
      if (cache->length() == 0) return kernel::self_attention(qkv, o);
      o.query0 = cache->length();
      return kernel::gathered_attention(parts[0], seen, o);
    }
  }
};

}  // namespace redco
