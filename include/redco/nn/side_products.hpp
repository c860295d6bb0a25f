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

namespace redco::nn {

class builder_base;

}  // namespace redco::nn

namespace redco::nn::detail {

/// A low-rank product narrow * wide^T that is not computed yet. It will be added to columns of a
/// layer's output, starting at `first_column`.
struct product_of_halves {
  std::int64_t first_column;
  at::Tensor narrow;  ///< Left factor of the product, [..., rank]
  at::Tensor wide;    ///< Right factor of the product, not transposed, [columns, rank]
};

/// The factors of a low-rank product of the rows x of each expert e, which are not multiplied yet:
/// `scale` * (x narrowing[e]^T) widening[e]^T will be added to columns of the experts' output,
/// starting at `first_column`.
struct expert_factors {
  std::int64_t first_column;
  at::Tensor narrowing;  ///< [experts, rank, In]
  at::Tensor widening;   ///< [experts, columns, rank]
  double scale;
};

/// A tensor of addends for a range of columns of a layer's output y, starting at column `first`.
struct some_columns {
  std::int64_t first = 0;
  at::Tensor values;
};

/// Returns y with `parts` added to ranges of its columns. Requires that the ranges are in ascending
/// order and do not overlap.
at::Tensor plus_columns(at::Tensor const& y, std::vector<some_columns> const& parts);

/// A weight and the change of its value that is equivalent to its side products, used to merge an
/// adapter into the weight.
struct weight_change {
  std::string weight;  ///< Name of the weight in the parameter store
  at::Tensor change;   ///< Change to add to this rank's part of the weight
};

/// An interface of objects that compute products which are added to a layer's output y = x W^T,
/// such as low-rank adapters. W is one weight, or several weights read as one. The layer does not
/// know the kind of object. The products' memory and work are declared in fact/side_products.hpp.
class side_source {
 public:
  side_source() = default;
  side_source(side_source const&) = delete;
  side_source& operator=(side_source const&) = delete;
  virtual ~side_source() = default;

  /// Returns the products to add to the layer's output for input `x`. `own_tokens` is true if `x`
  /// has only this rank's tokens of each example.
  virtual std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx,
                                                  bool own_tokens) const = 0;

  /// Returns the factors of the products, for a layer of experts, whose rows belong to experts.
  virtual std::vector<expert_factors> factors(context_base const& ctx) const = 0;

  /// Returns, for each weight, the change of the weight that is equivalent to the products.
  /// Computes it from the master values of the parameter store, without communication.
  virtual std::vector<weight_change> changes() const = 0;
};

/// An interface of factories that give side products (such as low-rank adapters) to the layers
/// inside a combinator.
class side_maker {
 public:
  side_maker() = default;
  side_maker(side_maker const&) = delete;
  side_maker& operator=(side_maker const&) = delete;
  virtual ~side_maker() = default;

  /// Returns the object that computes side products for a layer with these weights, or null if the
  /// layer gets none or is on another pipeline stage. `whole` is the name of all weights read as
  /// one matrix.
  virtual std::shared_ptr<side_source const> make(builder_base& b, std::span<std::string_view const> weights,
                                                  std::string_view whole) = 0;
};

/// The products, such as low-rank adapters, that an outer layer adds to the output of one layer;
/// may be empty.
class side_products {
 public:
  side_products() = default;
  explicit side_products(std::shared_ptr<side_source const> source) : source_(std::move(source)) {}

  /// Returns true if the layer has no side products.
  bool empty() const { return source_ == nullptr; }

  std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx, bool own_tokens = false) const {
    return source_ ? source_->products(x, ctx, own_tokens) : std::vector<product_of_halves>();
  }

  std::vector<expert_factors> factors(context_base const& ctx) const {
    return source_ ? source_->factors(ctx) : std::vector<expert_factors>();
  }

  /// Returns the layer's output y with its side products of the input `x` added to their columns.
  at::Tensor added_to(at::Tensor const& y, at::Tensor const& x, context_base const& ctx,
                      bool own_tokens = false) const {
    if (!source_) return y;
    std::vector<some_columns> parts;
    for (product_of_halves const& one : source_->products(x, ctx, own_tokens))
      parts.push_back({one.first_column, kernel::linear(one.narrow, one.wide)});
    return plus_columns(y, parts);
  }

 private:
  std::shared_ptr<side_source const> source_;
};

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/side_products.inl.hpp>
#endif
