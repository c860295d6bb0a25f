#pragma once

#include <redco/nn/pass.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace redco::nn {

/// A sum over the shards that is not reduced yet: the result of a row-parallel layer. The layer's
/// product may not be computed yet either. Then detail::reduced computes it in chunks of rows and
/// sends each chunk while it computes the next. Other uses convert to tensor<partial>, which
/// computes the product at once.
class pending_sum {
 public:
  /// One or several products x W^T, [..., In] by [Out, In], that are not computed yet. Their sum is
  /// this shard's addend of the pending sum.
  struct products {
    std::vector<at::Tensor> x, weights;
    /// Path of the layer to which `saved_watch` attributes the tensors that the products save. The
    /// products may be computed later, inside another layer.
    tensors::saved_watch::layer_path layer = tensors::saved_watch::here();
  };

  pending_sum(tensor<shape::partial> const& value) : local_(value.local()), addends_(value.addends()) {}
  explicit pending_sum(products pending, std::vector<at::Tensor> addends = {})
      : pending_(std::move(pending)), addends_(std::move(addends)) {}

  /// Returns the products that are not computed yet, or nothing if they are computed.
  std::optional<products> const& pending() const { return pending_; }

  std::vector<at::Tensor> const& addends() const { return addends_; }

  /// Returns a copy of this sum with `x` as another addend. `x` is equal on all ranks and added
  /// once, after the reduction.
  pending_sum with_addend(at::Tensor const& x) const {
    pending_sum more = *this;
    more.addends_.push_back(x);
    return more;
  }

  /// Returns this shard's addend of the sum. Computes the products at the first call.
  at::Tensor const& local() const {
    if (pending_) {
      tensors::saved_watch::elsewhere const in_layer(pending_->layer);
      for (std::size_t i = 0; i < pending_->x.size(); ++i) {
        at::Tensor const one = kernel::linear(pending_->x[i], pending_->weights[i]);
        local_ = i == 0 ? one : local_ + one;
      }
      pending_.reset();
    }
    return local_;
  }

  /// Returns the pending sum as a tensor<partial>. Computes the products at the first call.
  tensor<shape::partial> value() const { return tensor<shape::partial>(local(), addends_); }
  operator tensor<shape::partial>() const { return value(); }

 private:
  mutable at::Tensor local_;
  mutable std::optional<products> pending_;
  std::vector<at::Tensor> addends_;
};

}  // namespace redco::nn

namespace redco {

/// Operators on pending sums: addition, subtraction and multiplication, with each other, with
/// tensors and with numbers. An operation that does not compile for a tensor<partial> does not
/// compile here. Products that are not computed yet are computed first.
inline auto operator+(nn::pending_sum const& a, nn::pending_sum const& b) { return a.value() + b.value(); }
inline auto operator-(nn::pending_sum const& a, nn::pending_sum const& b) { return a.value() - b.value(); }
inline auto operator*(nn::pending_sum const& a, double factor) { return a.value() * factor; }
template <shape::layout B>
auto operator+(nn::pending_sum const& a, tensor<B> const& b) {
  return a.value() + b;
}
template <shape::layout A>
auto operator+(tensor<A> const& a, nn::pending_sum const& b) {
  return a + b.value();
}
template <shape::layout B>
auto operator-(nn::pending_sum const& a, tensor<B> const& b) {
  return a.value() - b;
}
template <shape::layout A>
auto operator-(tensor<A> const& a, nn::pending_sum const& b) {
  return a - b.value();
}
template <shape::layout B>
auto operator*(nn::pending_sum const& a, tensor<B> const& b) {
  return a.value() * b;
}
template <shape::layout A>
auto operator*(tensor<A> const& a, nn::pending_sum const& b) {
  return a * b.value();
}
template <std::same_as<nn::pending_sum> Sum>
auto operator*(Sum const& a, Sum const& b) {
  return a.value() * b.value();
}

}  // namespace redco

namespace redco::nn::detail {

/// Returns the pending sum `x` summed over the shards, plus its addends such as biases. If the
/// product in `x` is not computed yet, computes it in chunks of rows and sums each chunk on the
/// pass's lane (communication thread) while it computes the next. Differentiable to any order.
tensor<shape::replicated> reduced(pending_sum const& x, pass const& in);

/// Returns this rank's tokens of the pending sum `x` summed over the shards, plus its addends such
/// as biases. If the product in `x` is not computed yet, computes it in chunks of examples.
/// Backward gathers the gradients of one chunk while it multiplies the gradients of the chunk
/// before.
tensor<shape::token_split> reduced_tokens(pending_sum const& x, pass const& in);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/pending_sum.inl.hpp>
#endif
