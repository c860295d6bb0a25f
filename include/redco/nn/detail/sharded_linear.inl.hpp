#pragma once

#include <redco/nn/detail/sharded_linear.hpp>

#include <redco/nn/detail/overlapped_calls.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/product.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <optional>

namespace redco::nn::detail::overlapped {

/// An autograd function that returns this rank's slice of the gathered buffer as a result computed
/// from `x`. So gradients flow from the buffer to `x`, which needs no memory of its own. The result
/// is no view of the buffer for autograd, because the buffer is filled later.
struct in_place_of : tensors::recorded_function<in_place_of> {
  static at::Tensor forward(node*, at::Tensor const&, at::Tensor const& part) {
    at::Tensor own = at::empty({0}, part.options());
    return own.set_(part.storage(), part.storage_offset(), part.sizes(), part.strides());
  }
  static gradients_of_node backward(node*, gradients_of_node const& gradients) { return {gradients[0], {}}; }
};

/// An autograd function that returns `whole` W^T + b, and `whole` itself for other readers. `x` is
/// this rank's slice of `whole`, or all of `whole` if the argument `join` is null. Backward sums
/// the gradients of both results. Saves `whole` unless the weight is frozen.
struct product_of_entered : tensors::recorded_function<product_of_entered> {
  static gradients_of_node forward(node* ctx, at::Tensor const& x, at::Tensor const& weight,
                                   std::optional<at::Tensor> const& bias, at::Tensor const* whole, exchange const& over,
                                   joined_tokens* join) {
    over.keep_in(*ctx);
    ctx->saved_data["has_bias"] = bias.has_value();
    ctx->save_for_backward(weight.requires_grad() ? gradients_of_node{weight, x, *whole} : gradients_of_node{weight});
    ctx->set_materialize_grads(false);
    if (!x.requires_grad()) ctx->mark_non_differentiable({*whole});
    at::Tensor const added = bias.value_or(at::Tensor());
    if (join == nullptr) return {kernel::linear(*whole, weight, added), *whole};
    at::Tensor const product = at::empty(with_features(*whole, weight.size(0)), whole->options());
    join->for_each([&](std::int64_t first, std::int64_t many) {
      kernel::product_into(as_rows(product.narrow(0, first, many)), as_rows(whole->narrow(0, first, many)), weight.t(),
                           added);
    });
    return {product, *whole};
  }

  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    gradients_of_node of(6);  // The gradients of x, weight and bias; the rest stay undefined.
    at::Tensor const &of_product = gradients[0], &of_whole = gradients[1];
    if (!of_product.defined() && !of_whole.defined()) return of;
    auto const saved = ctx->get_saved_variables();
    at::Tensor const& weight = saved[0];
    exchange const& over = exchange::of(*ctx);
    auto const sizes = of_whole.defined() ? of_whole.sizes().vec() : with_features(of_product, weight.size(1));
    at::Tensor const g =
        of_product.defined()
            ? as_rows(of_product)
            : at::zeros({c10::multiply_integers(sizes) / sizes.back(), weight.size(0)}, of_whole.options());
    bool const wants_x = ctx->needs_input_grad(0), wants_weight = ctx->needs_input_grad(1);
    at::Tensor whole = wants_weight ? saved[2] : at::Tensor();
    std::optional<sums_under_way> sums;
    if (at::GradMode::is_enabled()) {
      at::Tensor const product = at::mm(g, weight).view(sizes);
      tensor<shape::partial> const addend(of_whole.defined() ? product + of_whole : product);
      if (wants_weight)
        whole = over.by_tokens
                    ? comm::enter(tensor<shape::token_split>(saved[1], sizes[sizes.size() - 2]), over.shards).local()
                    : comm::enter(tensor<shape::replicated>(saved[1]), over.shards).local();
      if (wants_x)
        of[0] = over.by_tokens ? comm::reduce_tokens(addend, over.shards).local()
                               : comm::reduce(addend, over.shards).local();
    } else if (wants_x) {
      sums.emplace(
          sums_of_rows(sizes, g.options(), over, [&](at::Tensor const& y, std::int64_t first, std::int64_t many) {
            kernel::product_into(y, g.narrow(0, first, many), weight);
            if (of_whole.defined()) y.add_(as_rows(of_whole).narrow(0, first, many));
          }));
    }
    if (wants_weight) of[1] = kernel::product(g.t(), as_rows(whole));
    if (ctx->saved_data["has_bias"].toBool() && ctx->needs_input_grad(2)) of[2] = g.sum(at::IntArrayRef{0});
    if (sums) of[0] = sums->wait();
    return of;
  }
};

inline std::optional<at::Tensor> if_defined(at::Tensor const& bias) {
  return bias.defined() ? std::optional(bias) : std::nullopt;
}
inline entered_product entered(gradients_of_node const& product_and_whole) {
  return {product_and_whole[1], product_and_whole[0]};
}

}  // namespace redco::nn::detail::overlapped

namespace redco::nn::detail {

REDCO_INLINE entered_product overlapped_product(tensor<shape::replicated> const& x, at::Tensor const& weight,
                                                at::Tensor const& bias, comm::group& shards, comm::lane& lane) {
  using namespace overlapped;
  at::Tensor const& whole = x.local();
  return overlapped::entered(overlapped::product_of_entered::apply(whole, weight, overlapped::if_defined(bias), &whole,
                                                                   overlapped::exchange(shards, lane, false),
                                                                   static_cast<overlapped::joined_tokens*>(nullptr)));
}

REDCO_INLINE entered_product overlapped_product(tensor<shape::token_split> const& x, at::Tensor const& weight,
                                                at::Tensor const& bias, comm::group& shards, comm::lane& lane) {
  using namespace overlapped;
  overlapped::exchange const over(shards, lane, true);
  at::Tensor const whole = at::empty({x.local().size(0), x.tokens(), x.local().size(-1)}, x.local().options());
  overlapped::joined_tokens join(x.local().detach().contiguous(), whole, over);
  at::Tensor const own = overlapped::in_place_of::apply(x.local(), shards.part_of(whole, -2));
  return overlapped::entered(
      overlapped::product_of_entered::apply(own, weight, overlapped::if_defined(bias), &whole, over, &join));
}

}  // namespace redco::nn::detail
