#pragma once

#include <redco/nn/detail/entering_linear.hpp>

#include <redco/nn/detail/overlapped_calls.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/product.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <optional>

namespace redco::detail::overlapped {

/// x where it lies in what is joined: a recorded graph goes on from there to x, without other memory. For autograd it is no view of
/// that, which is filled later.
struct in_place_of : recorded_function<in_place_of> {
  static at::Tensor forward(node*, at::Tensor const&, at::Tensor const& place) {
    at::Tensor own = at::empty({0}, place.options());
    return own.set_(place.storage(), place.storage_offset(), place.sizes(), place.strides());
  }
  static gradients_of_node backward(node*, gradients_of_node const& gradients) { return {gradients[0], {}}; }
};

/// `whole`, of which x is this rank's part (or all of it, where `join` is null), times W^T, plus b.
struct product_of_entered : recorded_function<product_of_entered> {
  static at::Tensor forward(node* ctx, at::Tensor const& x, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias, at::Tensor const* whole, group* shards,
                            comm::lane* lane, joined_tokens* join) {
    ctx->save_for_backward({x, weight, *whole});
    ctx->saved_data["shards"] = handle_of(*shards);
    ctx->saved_data["lane"] = handle_of(*lane);
    ctx->saved_data["by_tokens"] = join != nullptr;
    ctx->saved_data["wants_x"] = x.requires_grad();
    ctx->saved_data["wants_weight"] = weight.requires_grad();
    ctx->saved_data["wants_bias"] = bias && bias->requires_grad();
    at::Tensor const added = bias.value_or(at::Tensor());
    if (join == nullptr) return kernel::linear(*whole, weight, added);
    at::Tensor const product = at::empty(with_features(*whole, weight.size(0)), whole->options());
    join->for_each([&](std::int64_t first, std::int64_t many) {
      kernel::product_into(as_rows(product.narrow(0, first, many)), as_rows(whole->narrow(0, first, many)), weight.t(),
                           added);
    });
    return product;
  }

  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &x = saved[0], &weight = saved[1];
    at::Tensor whole = saved[2];
    auto& shards = held<group>(*ctx, "shards");
    bool const by_tokens = ctx->saved_data["by_tokens"].toBool(), wants_x = ctx->saved_data["wants_x"].toBool();
    at::Tensor const g = as_rows(gradients[0]);
    auto const sizes = with_features(gradients[0], weight.size(1));
    at::Tensor of_x, of_weight, of_bias;
    std::optional<sums_under_way> sums;
    if (at::GradMode::is_enabled()) {
      tensor<token_split> const own(x, sizes[sizes.size() - 2]);
      tensor<partial> const addend(at::mm(g, weight).view(sizes));
      whole = by_tokens ? enter(own, shards).local() : enter(tensor<replicated>(x), shards).local();
      if (wants_x) of_x = by_tokens ? reduce_tokens(addend, shards).local() : reduce(addend, shards).local();
    } else if (wants_x) {
      sums.emplace(sums_of_product(g, weight, sizes, by_tokens, shards, held<comm::lane>(*ctx, "lane")));
    }
    if (ctx->saved_data["wants_weight"].toBool()) of_weight = kernel::product(g.t(), as_rows(whole));
    if (ctx->saved_data["wants_bias"].toBool()) of_bias = g.sum(at::IntArrayRef{0});
    if (sums) of_x = sums->wait();
    return {of_x, of_weight, of_bias, {}, {}, {}, {}};
  }
};

inline std::optional<at::Tensor> if_defined(at::Tensor const& bias) {
  return bias.defined() ? std::optional(bias) : std::nullopt;
}

}  // namespace redco::detail::overlapped

namespace redco::detail {

REDCO_INLINE entered_product product_beside(tensor<replicated> const& x, at::Tensor const& weight,
                                            at::Tensor const& bias, group& shards, comm::lane& lane) {
  using namespace overlapped;
  at::Tensor const& whole = x.local();
  return {whole, product_of_entered::apply(whole, weight, if_defined(bias), &whole, &shards, &lane,
                                           static_cast<joined_tokens*>(nullptr))};
}

REDCO_INLINE entered_product product_beside(tensor<token_split> const& x, at::Tensor const& weight,
                                            at::Tensor const& bias, group& shards, comm::lane& lane) {
  using namespace overlapped;
  at::Tensor const whole = at::empty({x.local().size(0), x.tokens(), x.local().size(-1)}, x.local().options());
  joined_tokens join(x.local().detach().contiguous(), whole, shards, lane);
  at::Tensor const own = in_place_of::apply(x.local(), shards.part_of(whole, -2));
  return {whole, product_of_entered::apply(own, weight, if_defined(bias), &whole, &shards, &lane, &join)};
}

}  // namespace redco::detail
