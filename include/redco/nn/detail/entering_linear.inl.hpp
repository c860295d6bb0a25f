#pragma once

#include <redco/nn/detail/entering_linear.hpp>

#include <redco/nn/detail/overlapped_calls.hpp>
#include <redco/kernel/product.hpp>
#include <redco/comm/collective_label.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <optional>

namespace redco::detail::overlapped {

// Backward runs the nodes that are ready in the reverse of the order in which they were made. So they are made in this one: who waits
// for the sum, the product's part that gives the gradients of the weights, who starts the sum, and the part that gives the gradient of x.

/// x; its gradient is there when the lane's sums are.
struct awaited_sum : recorded_function<awaited_sum> {
  static at::Tensor forward(node* ctx, at::Tensor const& x, std::int64_t sums) {
    ctx->saved_data["sums"] = sums;
    return x;
  }
  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    if (!at::GradMode::is_enabled()) held<comm::lane>(*ctx, "sums").wait();
    return {gradients[0], {}};
  }
};

/// x; its gradient goes to the lane. Where a graph is recorded it is summed at once, as `enter` does.
struct started_sum : recorded_function<started_sum> {
  static at::Tensor forward(node* ctx, at::Tensor const& x, std::int64_t sums, std::int64_t shards) {
    ctx->saved_data["sums"] = sums;
    ctx->saved_data["shards"] = shards;
    return x;
  }
  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    if (at::GradMode::is_enabled())
      return {reduce(tensor<partial>(gradients[0]), held<group>(*ctx, "shards")).local(), {}, {}};
    comm::collective_label const label("reduce");
    at::Tensor const sum = gradients[0].clone(at::MemoryFormat::Contiguous);
    held<comm::lane>(*ctx, "sums").all_reduce(sum);
    return {sum, {}, {}};
  }
};

/// x W^T + b; its gradient is that of x alone.
struct product_for_input : recorded_function<product_for_input> {
  static at::Tensor forward(node* ctx, at::Tensor const& x, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias) {
    ctx->save_for_backward({weight});
    return kernel::linear(x, weight, bias.value_or(at::Tensor()));
  }
  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    at::Tensor const weight = ctx->get_saved_variables()[0];
    auto sizes = gradients[0].sizes().vec();
    sizes.back() = weight.size(1);
    return {kernel::product(as_rows(gradients[0]), weight).view(sizes), {}, {}};
  }
};

/// Nothing of the product's extents; its gradients are those of W and b. What a recorded graph makes of the gradient of W enters too.
struct product_for_weights : recorded_function<product_for_weights> {
  static at::Tensor forward(node* ctx, at::Tensor const& x, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias, std::int64_t shards) {
    ctx->save_for_backward({x});
    ctx->saved_data["shards"] = shards;
    ctx->saved_data["wants_weight"] = weight.requires_grad();
    ctx->saved_data["wants_bias"] = bias && bias->requires_grad();
    auto sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    return at::zeros({1}, x.options()).expand(sizes);
  }
  static gradients_of_node backward(node* ctx, gradients_of_node const& gradients) {
    at::Tensor const g = as_rows(gradients[0]);
    at::Tensor of_weight, of_bias;
    if (ctx->saved_data["wants_weight"].toBool()) {
      at::Tensor const x = ctx->get_saved_variables()[0];
      of_weight = kernel::product(g.t(), as_rows(enter(tensor<replicated>(x), held<group>(*ctx, "shards")).local()));
    }
    if (ctx->saved_data["wants_bias"].toBool()) of_bias = g.sum(at::IntArrayRef{0});
    return {{}, of_weight, of_bias, {}};
  }
};

/// The product; both parts have its gradient.
struct both_parts : recorded_function<both_parts> {
  static at::Tensor forward(node*, at::Tensor const& product, at::Tensor const&) { return product; }
  static gradients_of_node backward(node*, gradients_of_node const& gradients) { return {gradients[0], gradients[0]}; }
};

}  // namespace redco::detail::overlapped

namespace redco::detail {

REDCO_INLINE entered_product overlapped_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                               group& shards, comm::lane& sums) {
  using namespace overlapped;
  std::optional<at::Tensor> const added = bias.defined() ? std::optional(bias) : std::nullopt;
  at::Tensor const awaited = awaited_sum::apply(x, handle_of(sums));
  bool const trained = weight.requires_grad() || (added && added->requires_grad());
  at::Tensor const nothing = trained ? product_for_weights::apply(x, weight, added, handle_of(shards)) : at::Tensor();
  at::Tensor const started = started_sum::apply(awaited, handle_of(sums), handle_of(shards));
  at::Tensor const product = product_for_input::apply(started, weight, added);
  return {started, trained ? both_parts::apply(product, nothing) : product};
}

}  // namespace redco::detail
