#pragma once

#include <redco/nn/gradient_watch.hpp>

#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace redco::nn::detail {

struct gradient_end final : torch::autograd::PostAccumulateGradHook {
  gradient_end(std::function<void(parameter)> f, parameter p) : callback(std::move(f)), which(p) {}
  void operator()(at::Tensor const&) override { callback(which); }

  std::function<void(parameter)> callback;
  parameter which;
};

}  // namespace redco::nn::detail

namespace redco::nn {

REDCO_INLINE gradient_watch::gradient_watch(network_base const& net, std::function<void(parameter)> after_grad) {
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    at::Tensor const& leaf = net.parameters()[i];
    if (!leaf.requires_grad()) continue;
    parameter const which{static_cast<std::int32_t>(i)};
    torch::autograd::impl::set_post_acc_grad_hooks(leaf, std::make_unique<detail::gradient_end>(after_grad, which));
    leaves_.push_back(leaf);
  }
}

REDCO_INLINE bool gradient_watch::on(network_base const& net) {
  for (at::Tensor const& leaf : net.parameters())
    if (leaf.requires_grad() && torch::autograd::impl::post_acc_grad_hooks(leaf) != nullptr) return true;
  return false;
}

REDCO_INLINE gradient_watch::~gradient_watch() {
  for (at::Tensor const& leaf : leaves_) torch::autograd::impl::set_post_acc_grad_hooks(leaf, nullptr);
}

}  // namespace redco::nn
