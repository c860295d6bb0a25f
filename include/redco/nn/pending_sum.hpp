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

/// The result of a row-parallel layer: a pending sum over the shards whose last product may not be
/// computed yet. Who reduces the sum can compute some rows and send them while it computes the next
/// (see detail::reduced); everybody else gets a tensor<partial>, for which the product is computed
/// once.
class pending_sum {
 public:
  /// Products x W^T, [..., In] with [Out, In], whose sum is this shard's part.
  struct products {
    std::vector<at::Tensor> x, weights;
    saved_watch::place layer = saved_watch::here();  ///< the layer to which what backward needs belongs
  };

  pending_sum(tensor<partial> const& value) : local_(value.local()), addends_(value.addends()) {}
  explicit pending_sum(products pending, std::vector<at::Tensor> addends = {})
      : pending_(std::move(pending)), addends_(std::move(addends)) {}

  /// Returns the products while nobody has computed them.
  std::optional<products> const& pending() const { return pending_; }

  std::vector<at::Tensor> const& addends() const { return addends_; }

  /// Returns this sum with another addend, a replicated value.
  pending_sum with_addend(at::Tensor const& x) const {
    pending_sum more = *this;
    more.addends_.push_back(x);
    return more;
  }

  /// Returns this shard's part, and computes the products if nobody has.
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

  /// Returns the sum as a plain value.
  tensor<partial> value() const { return tensor<partial>(local(), addends_); }
  operator tensor<partial>() const { return value(); }

 private:
  mutable at::Tensor local_;
  mutable std::optional<products> pending_;
  std::vector<at::Tensor> addends_;
};

/// Arithmetic of pending sums is that of their values: sums and differences with each other and
/// with tensors, and factors. Errors: as for a tensor<partial>.
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
