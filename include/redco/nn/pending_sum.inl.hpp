#pragma once

#include <redco/nn/pending_sum.hpp>

#include <redco/nn/detail/overlapped_calls.hpp>
#include <redco/kernel/product.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace redco::nn::detail::overlapped {

/// An autograd function that computes products x W^T and sums them over the shards, while it
/// overlaps sums with products. Returns only this rank's tokens if `over.by_tokens` is true. Saves
/// the weights, and each x unless its weight is frozen.
struct summed_products : tensors::recorded_function<summed_products> {
  static at::Tensor forward(node* ctx, at::TensorList x, at::TensorList weights, exchange const& over) {
    over.keep_in(*ctx);
    gradients_of_node saved(weights.begin(), weights.end());
    for (std::size_t i = 0; i < x.size(); ++i) saved.push_back(weights[i].requires_grad() ? x[i] : at::Tensor());
    ctx->save_for_backward(std::move(saved));
    return sums_of_rows(with_features(x[0], weights[0].size(0)), x[0].options(), over,
                        [&](at::Tensor const& y, std::int64_t first, std::int64_t many) {
                          auto const rows = [&](std::size_t i) { return as_rows(x[i]).narrow(0, first, many); };
                          kernel::product_into(y, rows(0), weights[0].t());
                          for (std::size_t i = 1; i < x.size(); ++i) y.add_(kernel::product(rows(i), weights[i].t()));
                        })
        .wait();
  }

  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const& g = gradients[0];
    exchange const& over = exchange::of(*ctx);
    std::size_t const products = saved.size() / 2;
    auto sizes = g.sizes().vec();
    if (over.by_tokens) sizes[sizes.size() - 2] *= over.shards.size();
    gradients_of_node of(2 * products + 1);  // Gradients of each x, then of each weight.
    at::Tensor whole;
    if (over.by_tokens && !at::GradMode::is_enabled()) {
      whole = at::empty(sizes, g.options());
      for (std::size_t i = 0; i < products; ++i)
        if (ctx->needs_input_grad(i)) of[i] = at::empty(with_features(whole, saved[i].size(1)), g.options());
      joined_tokens join(as_examples(g), as_examples(whole), over);
      join.for_each([&](std::int64_t first, std::int64_t many) {
        auto const rows = [&](at::Tensor const& x) { return as_rows(as_examples(x).narrow(0, first, many)); };
        for (std::size_t i = 0; i < products; ++i)
          if (of[i].defined()) kernel::product_into(rows(of[i]), rows(whole), saved[i]);
      });
    } else {
      whole = over.by_tokens ? comm::enter(tensor<shape::token_split>(g, sizes[sizes.size() - 2]), over.shards).local()
                             : comm::enter(tensor<shape::replicated>(g), over.shards).local();
      for (std::size_t i = 0; i < products; ++i)
        if (ctx->needs_input_grad(i))
          of[i] = kernel::product(as_rows(whole), saved[i]).view(with_features(whole, saved[i].size(1)));
    }
    for (std::size_t i = products; i < 2 * products; ++i)
      if (ctx->needs_input_grad(i)) of[i] = kernel::product(as_rows(whole).t(), as_rows(saved[i]));
    return of;
  }
};

}  // namespace redco::nn::detail::overlapped

namespace redco::nn::detail {

/// Computes the products of the pending sum `x` and returns their sum over the shards, overlapped
/// with the products. Returns an undefined tensor if `x` has no uncomputed products, or if the
/// number of tokens T is not a multiple of the number of shards.
inline at::Tensor overlapped_sum(pending_sum const& x, pass const& in, bool by_tokens) {
  if (!x.pending()) return {};
  pending_sum::products const& of = *x.pending();
  at::Tensor const& first = of.x.front();
  if (by_tokens && (first.dim() != 3 || first.size(1) % in.tp->size() != 0)) return {};
  tensors::saved_watch::elsewhere const in_layer(of.layer);
  return overlapped::summed_products::apply(at::TensorList(of.x), at::TensorList(of.weights),
                                            overlapped::exchange(*in.tp, *in.shard_lane, by_tokens));
}

REDCO_INLINE tensor<shape::replicated> reduced(pending_sum const& x, pass const& in) {
  at::Tensor const sum = overlapped_sum(x, in, false);
  return sum.defined() ? comm::with_addends(sum, x.addends()) : comm::reduce(x, *in.tp);
}

REDCO_INLINE tensor<shape::token_split> reduced_tokens(pending_sum const& x, pass const& in) {
  at::Tensor const sums = overlapped_sum(x, in, true);
  if (!sums.defined()) return comm::reduce_tokens(x, *in.tp);
  return comm::with_addends(tensor<shape::token_split>(sums, x.pending()->x.front().size(-2)), x.addends(), *in.tp);
}

}  // namespace redco::nn::detail
