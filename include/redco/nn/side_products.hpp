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

/// A low-rank product narrow wide^T, not computed yet. It is added to the columns of a layer's
/// product from `first_column` on.
struct product_of_halves {
  std::int64_t first_column;
  at::Tensor narrow;  ///< Left factor [..., rank]
  at::Tensor wide;    ///< Right factor [columns, rank]
};

/// A tensor that covers some columns of a layer's product y, from column `first` on.
struct some_columns {
  std::int64_t first = 0;
  at::Tensor values;
};

/// Returns y with `parts` added to its columns. The parts are in ascending order of columns and do
/// not overlap.
at::Tensor plus_columns(at::Tensor const& y, std::vector<some_columns> const& parts);

/// The change of a weight that is equivalent to its side products.
struct weight_change {
  std::string weight;  ///< Name of the weight in the store
  at::Tensor change;   ///< Change of this rank's part
};

/// A source of products that are added to a layer's product y = x W^T; W is one weight, or several
/// read as one. The layer does not know the source's kind. Their facts are stated by
/// fact/side_products.hpp.
class side_source {
 public:
  side_source() = default;
  side_source(side_source const&) = delete;
  side_source& operator=(side_source const&) = delete;
  virtual ~side_source() = default;

  /// Returns the products for input `x`. `own_tokens` is true if `x` has this rank's tokens only.
  virtual std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx,
                                                  bool own_tokens) const = 0;

  /// Returns the equivalent change of each weight, computed from the store's masters. Sends no
  /// messages.
  virtual std::vector<weight_change> changes() const = 0;
};

/// A factory of side products for the layers inside a combinator.
class side_maker {
 public:
  side_maker() = default;
  side_maker(side_maker const&) = delete;
  side_maker& operator=(side_maker const&) = delete;
  virtual ~side_maker() = default;

  /// Returns the source for a layer with these weights; null if the layer has no side products.
  /// `whole` is the name of all weights as one.
  virtual std::shared_ptr<side_source const> make(builder_base& b, std::span<std::string_view const> weights,
                                                  std::string_view whole) = 0;
};

/// The side products of one layer; may be empty.
class side_products {
 public:
  side_products() = default;
  explicit side_products(std::shared_ptr<side_source const> source) : source_(std::move(source)) {}

  /// Returns true if the layer has no side products.
  bool empty() const { return source_ == nullptr; }

  std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx, bool own_tokens = false) const {
    return source_ ? source_->products(x, ctx, own_tokens) : std::vector<product_of_halves>();
  }

  /// Returns y with the layer's side products of input `x` added to their columns.
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
