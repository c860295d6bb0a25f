#pragma once

#include <redco/kernel/linear.hpp>
#include <redco/tensor/arithmetic.hpp>
#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace redco {

/// A sum over the shards that is not reduced yet, as row-parallel layers return it. The last
/// product may not be computed yet either. detail::reduced computes such a product in runs of rows,
/// and sends each run while it computes the next. Other users convert to tensor<partial>, which
/// computes the product once.
class pending_sum {
 public:
  /// Products x W^T, [..., In] by [Out, In], whose sum is this shard's part of the pending sum.
  struct products {
    std::vector<at::Tensor> x, weights;
    /// Path of the layer that owns the tensors saved for backward.
    saved_watch::place layer = saved_watch::here();
  };

  pending_sum(tensor<partial> const& value) : local_(value.local()), addends_(value.addends()) {}
  explicit pending_sum(products pending, std::vector<at::Tensor> addends = {})
      : pending_(std::move(pending)), addends_(std::move(addends)) {}

  /// Returns the products that are not computed yet; empty once they are.
  std::optional<products> const& pending() const { return pending_; }

  std::vector<at::Tensor> const& addends() const { return addends_; }

  /// Returns this sum with another addend, a replicated value that is added once after the
  /// reduction.
  pending_sum with_addend(at::Tensor const& x) const {
    pending_sum more = *this;
    more.addends_.push_back(x);
    return more;
  }

  /// Returns this shard's part of the sum. Computes the products at the first call.
  at::Tensor const& local() const {
    if (pending_) {
      saved_watch::elsewhere const in_layer(pending_->layer);
      for (std::size_t i = 0; i < pending_->x.size(); ++i) {
        at::Tensor const one = kernel::linear(pending_->x[i], pending_->weights[i]);
        local_ = i == 0 ? one : local_ + one;
      }
      pending_.reset();
    }
    return local_;
  }

  /// Returns the sum as a tensor<partial>. Computes the products at the first call.
  tensor<partial> value() const { return tensor<partial>(local(), addends_); }
  operator tensor<partial>() const { return value(); }

 private:
  mutable at::Tensor local_;
  mutable std::optional<products> pending_;
  std::vector<at::Tensor> addends_;
};

/// Arithmetic of pending sums, by their values: sums and differences with each other and with
/// tensors, and multiplication. Combinations that are errors for a tensor<partial> are errors here.
inline auto operator+(pending_sum const& a, pending_sum const& b) { return a.value() + b.value(); }
inline auto operator-(pending_sum const& a, pending_sum const& b) { return a.value() - b.value(); }
inline auto operator*(pending_sum const& a, double factor) { return a.value() * factor; }
template <layout B>
auto operator+(pending_sum const& a, tensor<B> const& b) {
  return a.value() + b;
}
template <layout A>
auto operator+(tensor<A> const& a, pending_sum const& b) {
  return a + b.value();
}
template <layout B>
auto operator-(pending_sum const& a, tensor<B> const& b) {
  return a.value() - b;
}
template <layout A>
auto operator-(tensor<A> const& a, pending_sum const& b) {
  return a - b.value();
}
template <layout B>
auto operator*(pending_sum const& a, tensor<B> const& b) {
  return a.value() * b;
}
template <layout A>
auto operator*(tensor<A> const& a, pending_sum const& b) {
  return a * b.value();
}
template <std::same_as<pending_sum> Sum>
auto operator*(Sum const& a, Sum const& b) {
  return a.value() * b.value();
}

}  // namespace redco
