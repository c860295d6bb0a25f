#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cuda/attention_source.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/block_pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace redco::kernel::cuda {

using detail::attention_gradient;
using detail::attention_result;
using detail::attention_tensors;

/// A block of attention scores as the argument of CUDA kernels. Its memory layout must equal that
/// of `score_block` in attention_source.hpp.
struct kernel_score_block {
  std::int64_t examples, heads, rows, keys, queries;
  std::int64_t query0, key0;
  std::int64_t window;
  bool const* mask;
  std::int64_t mask_stride;
  std::int64_t const* documents;
  float const* bias;
  std::int64_t bias_example, bias_head, bias_query, bias_key;
  float* lse;
  std::int64_t row0;
  std::uint32_t head0, k0, k1, threshold;
  float scale, kept, cap;
  int causal, drops;
  std::int64_t block, local, global, patterns;
  int sliding;
  float const* sinks;
  float* sink_slopes;
  int partial;
  bool const* blind;
};

/// The size of a block of attention scores: number of examples, and number of query rows per
/// example.
struct score_extent {
  std::int64_t examples, rows;

  friend constexpr bool operator==(score_extent const&, score_extent const&) = default;
};

/// Returns the size of a block of attention scores whose f32 scores over all heads and keys fit
/// into `bytes`. The block has all queries of one or more examples if they fit, else some queries
/// of one example. The number of queries is at least 1, and a multiple of 64 if more than 64 fit.
constexpr score_extent extent_of_scores(std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
                                        std::int64_t bytes) {
  std::int64_t const each = std::max<std::int64_t>(4 * heads * keys, 1), rows = std::max<std::int64_t>(bytes / each, 1);
  if (rows >= queries) return {std::clamp<std::int64_t>(rows / std::max<std::int64_t>(queries, 1), 1, batch), queries};
  return {1, rows > 64 ? rows / 64 * 64 : rows};
}

/// The examples and queries of one block of attention scores, and the range of keys that at least
/// one of these queries may see.
struct score_part {
  std::int64_t example, examples, query, rows, key, keys;
};

/// Returns a block of attention scores: `rows` queries from `query` on, and the range of keys that
/// the causal rule and the window allow to them.
inline score_part part_of(attention_options const& o, std::int64_t all_keys, std::int64_t example,
                          std::int64_t examples, std::int64_t query, std::int64_t rows) {
  std::int64_t const position = o.query0 + query;
  std::int64_t const end = o.causal ? std::clamp<std::int64_t>(position + rows, 1, all_keys) : all_keys;
  std::int64_t const first = o.window > 0 ? std::clamp<std::int64_t>(position + 1 - o.window, 0, end - 1) : 0;
  return {example, examples, query, rows, first, end - first};
}

/// Returns a view [examples, heads, rows, D] of some examples and rows of the tensor x [B, rows,
/// heads * D].
inline at::Tensor by_head(at::Tensor const& x, std::int64_t heads, std::int64_t example, std::int64_t examples,
                          std::int64_t row, std::int64_t rows) {
  return x.narrow(0, example, examples).narrow(1, row, rows).unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}

/// Reshapes [examples, heads, rows, D] to one matrix per key-value head, [examples * kv_heads,
/// heads / kv_heads * rows, D].
inline at::Tensor stacked(at::Tensor const& by_head, std::int64_t kv_heads) {
  return by_head.reshape({by_head.size(0) * kv_heads, by_head.size(1) / kv_heads * by_head.size(2), by_head.size(3)});
}

/// Returns the batched matrix product of a and b in f32. bf16 operands are multiplied on tensor
/// cores.
inline at::Tensor product_in_f32(at::Tensor const& a, at::Tensor const& b) {
  if (a.scalar_type() == at::kFloat) return at::bmm(a, b);
  return a.is_cuda() ? at::bmm(a, b, at::kFloat) : at::bmm(a.to(at::kFloat), b.to(at::kFloat));
}

/// An attention call on a CUDA device with any options, computed in blocks of scores. ATen computes
/// the matrix products; the kernels of attention_source compute the rest.
class attention_in_blocks {
 public:
  attention_in_blocks(detail::attention_tensors const& t, attention_options const& o, std::int64_t bytes)
      : t_(t), o_(o) {
    extent_ = extent_of_scores(t.q.size(0), o.heads, t.q.size(1), t.k.size(1), bytes);
    if (t.sinks.defined()) sinks_ = t.sinks.to(at::kFloat).contiguous();
  }

  detail::attention_result forward() const {
    detail::attention_result const made{
        at::empty({t_.q.size(0), t_.q.size(1), t_.q.size(2)}, t_.q.options()),
        at::empty({t_.q.size(0), o_.heads, t_.q.size(1)}, t_.q.options().dtype(at::kFloat))};
    for_groups_of_examples([&](std::int64_t example, std::int64_t examples) {
      for_blocks_of(example, examples, [&](score_part const& part) {
        auto const bias = bias_of(part);
        auto const z = product_in_f32(queries_of(t_.q, part), keys_of(t_.k, part).transpose(1, 2)), p = as_elements(z);
        tensors::launch_kernel(attention_source, "attention_probabilities", t_.q, rows_of_scores(part),
                               block_of(part, bias, made.lse, {}), z.mutable_data_ptr(), p.mutable_data_ptr());
        put_queries(made.out, part, product_in_f32(p, keys_of(t_.v, part)));
      });
    });
    return made;
  }

  /// Writes the gradients of q, k and v to the tensors in `into`, which may be views of one tensor.
  /// Returns the gradients of bias and sinks if requested.
  detail::attention_extras backward(detail::attention_gradient const& gradient,
                                    detail::attention_tensors const& into) const {
    auto const dbias =
        gradient.wants_bias ? at::zeros(t_.bias.sizes(), t_.q.options().dtype(at::kFloat)) : at::Tensor();
    auto const sink_slopes = gradient.wants_sinks ? at::empty_like(gradient.made.lse) : at::Tensor();
    for_groups_of_examples([&](std::int64_t example, std::int64_t examples) {
      auto const dk = at::zeros({examples * o_.kv_heads, t_.k.size(1), width()}, t_.q.options().dtype(at::kFloat));
      auto const dv = at::zeros_like(dk);
      for_blocks_of(example, examples, [&](score_part const& part) {
        add_gradients(part, gradient, into.q, {dk, dv, dbias, sink_slopes});
      });
      for (auto const& [to, sum] : {std::pair(into.k, dk), std::pair(into.v, dv)})
        by_head(to, o_.kv_heads, example, examples, 0, to.size(1))
            .copy_(sum.view({examples, o_.kv_heads, -1, width()}));
    });
    return {gradient.wants_bias ? dbias.to(t_.bias.scalar_type()) : at::Tensor(),
            gradient.wants_sinks ? sink_slopes.sum(at::IntArrayRef{0, 2}).to(t_.sinks.scalar_type()) : at::Tensor()};
  }

 private:
  /// Gradients that the blocks of scores add to, or write to. `sink_slopes` has a derivative for
  /// each query.
  struct sums {
    at::Tensor dk, dv, dbias, sink_slopes;
  };

  std::int64_t width() const { return t_.q.size(2) / o_.heads; }
  double scale() const { return o_.scale_of(width()); }

  template <class F>
  void for_groups_of_examples(F const& f) const {
    std::int64_t const batch = t_.q.size(0);
    for (std::int64_t b = 0; b < batch; b += extent_.examples) f(b, std::min(extent_.examples, batch - b));
  }

  template <class F>
  void for_blocks_of(std::int64_t example, std::int64_t examples, F const& f) const {
    std::int64_t const queries = t_.q.size(1);
    for (std::int64_t i = 0; i < queries; i += extent_.rows)
      f(part_of(o_, t_.k.size(1), example, examples, i, std::min(extent_.rows, queries - i)));
  }

  at::Tensor queries_of(at::Tensor const& x, score_part const& part) const {
    return stacked(by_head(x, o_.heads, part.example, part.examples, part.query, part.rows), o_.kv_heads);
  }

  at::Tensor keys_of(at::Tensor const& x, score_part const& part) const {
    return stacked(by_head(x, o_.kv_heads, part.example, part.examples, part.key, part.keys), o_.kv_heads);
  }

  void put_queries(at::Tensor const& to, score_part const& part, at::Tensor const& from) const {
    by_head(to, o_.heads, part.example, part.examples, part.query, part.rows)
        .copy_(from.view({part.examples, o_.heads, part.rows, width()}));
  }

  /// Returns the tensor for the scores `z` after rounding to the dtype of q: `z` itself for f32, a
  /// new tensor for bf16.
  at::Tensor as_elements(at::Tensor const& z) const {
    return t_.q.scalar_type() == at::kFloat ? z : at::empty_like(z, t_.q.options());
  }

  std::int64_t rows_of_scores(score_part const& part) const {
    return std::min<std::int64_t>(part.examples * o_.heads * part.rows, 65536);
  }

  /// Returns the bias of a block of scores in f32, [1 or examples, heads, rows, keys]. A bias given
  /// per distance is returned whole. An f32 bias is not copied.
  at::Tensor bias_of(score_part const& part) const {
    if (!t_.bias.defined()) return {};
    if (t_.bias.dim() == 2) return t_.bias.to(at::kFloat);
    auto const examples = t_.bias.size(0) == 1 ? t_.bias : t_.bias.narrow(0, part.example, part.examples);
    return examples.narrow(2, part.query, part.rows).narrow(3, part.key, part.keys).to(at::kFloat);
  }

  /// Returns the column of a bias given per distance ([H, distances]) for the first query and the
  /// first key of a block of scores.
  std::int64_t column_of(score_part const& part) const { return o_.distance0 + part.key - o_.query0 - part.query; }

  kernel_score_block block_of(score_part const& part, at::Tensor const& bias, at::Tensor const& lse,
                              at::Tensor const& sink_slopes) const {
    kernel_score_block s{};
    layers::block_pattern const& p = o_.pattern;
    s.block = p.block, s.local = p.local, s.global = p.global, s.patterns = p.patterns, s.sliding = p.sliding;
    if (sinks_.defined()) s.sinks = sinks_.const_data_ptr<float>();
    s.examples = part.examples, s.heads = o_.heads, s.rows = part.rows, s.keys = part.keys, s.queries = t_.q.size(1);
    s.query0 = o_.key0 + o_.query0 + part.query, s.key0 = o_.key0 + part.key;
    s.window = o_.window, s.causal = o_.causal, s.partial = o_.partial;
    s.scale = static_cast<float>(scale()), s.cap = static_cast<float>(o_.soft_cap);
    std::int64_t const first_row = part.example * o_.heads * s.queries + part.query;
    s.lse = lse.mutable_data_ptr<float>() + first_row;
    if (sink_slopes.defined()) s.sink_slopes = sink_slopes.mutable_data_ptr<float>() + first_row;
    if (o_.blind.defined()) s.blind = o_.blind.const_data_ptr<bool>() + first_row;
    if (t_.mask.defined()) {
      s.mask_stride = t_.k.size(1);
      s.mask = t_.mask.const_data_ptr<bool>() + part.example * s.mask_stride + part.key;
    }
    if (o_.documents.defined())
      s.documents = o_.documents.const_data_ptr<std::int64_t>() + part.example * s.queries + part.query;
    if (bias.defined()) {
      s.bias = bias.const_data_ptr<float>();
      if (bias.dim() == 2) {
        s.bias_head = bias.stride(0), s.bias_query = -bias.stride(1), s.bias_key = bias.stride(1);
        s.bias += column_of(part) * s.bias_key;
      } else {
        s.bias_example = bias.size(0) == 1 ? 0 : bias.stride(0);
        s.bias_head = bias.stride(1), s.bias_query = bias.stride(2), s.bias_key = bias.stride(3);
      }
    }
    s.drops = o_.dropout != 0, s.threshold = o_.dropped_below();
    s.kept = static_cast<float>(1 / (1 - o_.dropout)), s.k0 = o_.key.k0, s.k1 = o_.key.k1;
    s.row0 = o_.row0 + part.example, s.head0 = static_cast<std::uint32_t>(o_.head0);
    return s;
  }

  void add_gradients(score_part const& part, detail::attention_gradient const& gradient, at::Tensor const& into_q,
                     sums const& to) const {
    auto const q = queries_of(t_.q, part), k = keys_of(t_.k, part), g = queries_of(gradient.of_out, part);
    auto const bias = bias_of(part);
    auto const z = product_in_f32(q, k.transpose(1, 2)), p = as_elements(z);
    auto const dp = product_in_f32(g, keys_of(t_.v, part).transpose(1, 2));
    // The gradient of the bias is `dp`, in which the derivative of the soft cap is missing.
    bool const apart = o_.soft_cap > 0 && to.dbias.defined();
    auto const ds = apart ? at::empty_like(dp, t_.q.options()) : as_elements(dp);
    std::int64_t const here = (part.example * t_.q.size(1) + part.query) * t_.q.size(2);
    auto const from = [&](at::Tensor const& x) -> void const* {
      return static_cast<char const*>(x.const_data_ptr()) + here * static_cast<std::int64_t>(x.element_size());
    };
    tensors::launch_kernel(attention_source, "attention_score_gradients", t_.q, rows_of_scores(part),
                           block_of(part, bias, gradient.made.lse, to.sink_slopes), z.const_data_ptr(),
                           dp.mutable_data_ptr(), from(gradient.of_out), from(gradient.made.out), p.mutable_data_ptr(),
                           ds.mutable_data_ptr(), width());
    to.dv.narrow(1, part.key, part.keys).add_(product_in_f32(p.transpose(1, 2), g));
    to.dk.narrow(1, part.key, part.keys).add_(product_in_f32(ds.transpose(1, 2), q), scale());
    put_queries(into_q, part, product_in_f32(ds, k).mul_(scale()));
    if (to.dbias.defined()) add_bias(part, dp, to.dbias);
  }

  void add_bias(score_part const& part, at::Tensor const& ds, at::Tensor const& dbias) const {
    if (dbias.dim() == 2) {
      tensors::launch_kernel(attention_source, "attention_distance_sums", t_.q,
                             tensors::blocks_for(o_.heads * (part.rows + part.keys - 1)), ds.const_data_ptr(),
                             dbias.mutable_data_ptr(), part.examples, o_.heads, part.rows, part.keys, dbias.size(1),
                             column_of(part));
      return;
    }
    auto const of_part = ds.view({part.examples, o_.heads, part.rows, part.keys});
    auto const to = dbias.narrow(2, part.query, part.rows).narrow(3, part.key, part.keys);
    if (dbias.size(0) == 1) to.add_(of_part.sum(0, true));
    else to.narrow(0, part.example, part.examples).copy_(of_part);
  }

  detail::attention_tensors const& t_;
  attention_options const& o_;
  score_extent extent_{};
  at::Tensor sinks_;  // in f32
};

}  // namespace redco::kernel::cuda
