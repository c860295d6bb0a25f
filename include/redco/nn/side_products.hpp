#pragma once

#include <redco/nn/context.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco {

class builder_base;

}  // namespace redco

namespace redco::detail {

/// A product beside the columns of a layer's product from `first_column` on, not yet made: narrow
/// wide^T.
struct product_of_halves {
  std::int64_t first_column;
  at::Tensor narrow;  ///< [..., rank]
  at::Tensor wide;    ///< [columns, rank]
};

/// A tensor like y, but for its columns, which are those of y from `first` on.
struct some_columns {
  std::int64_t first = 0;
  at::Tensor values;
};

/// y with these added to its columns, in order.
at::Tensor plus_columns(at::Tensor const& y, std::vector<some_columns> const& parts);

/// What side products add to a weight, if they are computed as a part of it.
struct weight_change {
  std::string weight;  ///< its name in the store
  at::Tensor change;   ///< this rank's part
};

/// Computes products beside a layer's product y = x W^T, where W is one weight or several read as
/// one. The layer knows nothing of what they are; fact/side_products.hpp states them.
class side_source {
 public:
  side_source() = default;
  side_source(side_source const&) = delete;
  side_source& operator=(side_source const&) = delete;
  virtual ~side_source() = default;

  /// `own_tokens`: x is this rank's tokens only.
  virtual std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx,
                                                  bool own_tokens) const = 0;

  /// By the masters of the store. No messages.
  virtual std::vector<weight_change> changes() const = 0;
};

/// Makes side products for the layers inside a combinator.
class side_maker {
 public:
  side_maker() = default;
  side_maker(side_maker const&) = delete;
  side_maker& operator=(side_maker const&) = delete;
  virtual ~side_maker() = default;

  /// Null for a layer without any. `whole` is the name of all weights as one.
  virtual std::shared_ptr<side_source const> make(builder_base& b, std::span<std::string_view const> weights,
                                                  std::string_view whole) = 0;
};

/// The side products of a layer, or none.
class side_products {
 public:
  side_products() = default;
  explicit side_products(std::shared_ptr<side_source const> source) : source_(std::move(source)) {}

  /// Returns true if the layer has none.
  bool empty() const { return source_ == nullptr; }

  std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx, bool own_tokens = false) const {
    return source_ ? source_->products(x, ctx, own_tokens) : std::vector<product_of_halves>();
  }

  /// Returns y with the products added to their columns.
  at::Tensor beside(at::Tensor const& y, at::Tensor const& x, context_base const& ctx, bool own_tokens = false) const {
    if (!source_) return y;
    std::vector<some_columns> parts;
    for (product_of_halves const& one : source_->products(x, ctx, own_tokens))
      parts.push_back({one.first_column, kernel::linear(one.narrow, one.wide)});
    return plus_columns(y, parts);
  }

 private:
  std::shared_ptr<side_source const> source_;
};

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/side_products.inl.hpp>
#endif
