#pragma once

#include <redco/nn/detail/reduced.hpp>

#include <redco/nn/detail/overlapped_calls.hpp>
#include <redco/kernel/product.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_watch.hpp>
#include <redco/config.hpp>

#include <cstdint>

namespace redco::detail::overlapped {

/// The sum of a product that is made meanwhile. Where tokens are split, that of this rank's run.
struct summed_product : recorded_function<summed_product> {
  static at::Tensor forward(node* ctx, at::Tensor const& x, at::Tensor const& weight, group* shards, comm::lane* lane,
                            bool by_tokens) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["shards"] = handle_of(*shards);
    ctx->saved_data["lane"] = handle_of(*lane);
    ctx->saved_data["by_tokens"] = by_tokens;
    ctx->saved_data["wants_x"] = x.requires_grad();
    ctx->saved_data["wants_weight"] = weight.requires_grad();
    return sums_of_product(as_rows(x), weight.t(), with_features(x, weight.size(0)), by_tokens, *shards, *lane).wait();
  }

  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &x = saved[0], &weight = saved[1], &g = gradients[0];
    auto& shards = held<group>(*ctx, "shards");
    bool const by_tokens = ctx->saved_data["by_tokens"].toBool(), wants_x = ctx->saved_data["wants_x"].toBool();
    at::Tensor of_x, of_weight, whole;
    if (by_tokens && !at::GradMode::is_enabled()) {
      whole = at::empty(with_features(x, g.size(-1)), g.options());
      if (wants_x) of_x = at::empty(x.sizes(), x.options());
      joined_tokens join(as_examples(g), as_examples(whole), shards, held<comm::lane>(*ctx, "lane"));
      join.for_each([&](std::int64_t first, std::int64_t many) {
        if (wants_x)
          kernel::product_into(as_rows(as_examples(of_x).narrow(0, first, many)),
                               as_rows(as_examples(whole).narrow(0, first, many)), weight);
      });
    } else {
      whole = by_tokens ? enter(tensor<token_split>(g, x.size(-2)), shards).local()
                        : enter(tensor<replicated>(g), shards).local();
      if (wants_x) of_x = kernel::product(as_rows(whole), weight).view(x.sizes());
    }
    if (ctx->saved_data["wants_weight"].toBool()) of_weight = kernel::product(as_rows(whole).t(), as_rows(x));
    return {of_x, of_weight, {}, {}, {}};
  }
};

}  // namespace redco::detail::overlapped

namespace redco::detail {

/// The sum of a pending product, or undefined where it is to be made as a whole.
inline at::Tensor sum_beside(tensor<partial> const& x, pass const& in, bool by_tokens) {
  if (!x.pending()) return {};
  at::Tensor const& of = x.pending()->x;
  if (by_tokens && (of.dim() != 3 || of.size(1) % in.tp->size() != 0)) return {};
  saved_watch::elsewhere const in_layer(x.pending()->layer);
  return overlapped::summed_product::apply(of, x.pending()->weight, in.tp, in.shard_lane, by_tokens);
}

REDCO_INLINE tensor<replicated> reduced(tensor<partial> const& x, pass const& in) {
  at::Tensor const sum = sum_beside(x, in, false);
  return sum.defined() ? with_addends(sum, x.addends()) : reduce(x, *in.tp);
}

REDCO_INLINE tensor<token_split> reduced_tokens(tensor<partial> const& x, pass const& in) {
  at::Tensor const sums = sum_beside(x, in, true);
  if (!sums.defined()) return reduce_tokens(x, *in.tp);
  return with_addends(tensor<token_split>(sums, x.pending()->x.size(-2)), x.addends(), *in.tp);
}

}  // namespace redco::detail
