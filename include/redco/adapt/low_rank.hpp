#pragma once

#include <redco/adapt/plan/lora_options.hpp>

#include <redco/nn/builder.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::detail {

/// The low-rank adapters of one layer's product y = x W^T. Each adapter adds s (x A^T) B^T to the
/// columns of y that belong to its weight.
class low_rank final : public side_source {
 public:
  /// Finds the layer's adapters. `weights`: names of the layer's weights; `whole`: their common
  /// name, for one adapter over all of them. empty() is true if the layer has no adapters.
  low_rank(lora_options const& options, builder_base& b, std::span<std::string_view const> weights,
           std::string_view whole);

  bool empty() const { return products_.empty(); }
  /// Returns the paths of the adapted weights.
  std::vector<std::string> const& adapted() const { return adapted_; }

  std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx, bool own_tokens) const override;
  std::vector<weight_change> changes() const override;

 private:
  struct product {
    parameter a, b = {};
    /// Tensor dimension along which the weight is split; -1 for none
    int cut = -1;
    std::int64_t first = 0;  ///< first column of y that the adapter changes
    /// Number of neighbouring ranks that hold equal rows of `b`.
    int sharers = 1;
    /// Index of the first row of `b` that several ranks share; all later rows are shared, too.
    std::int64_t shared_from = 0;

    void share(int ranks, std::int64_t from) {
      if (ranks > 1 && sharers == 1) sharers = ranks, shared_from = from;
    }
  };

  /// The master parameters of one weight's adapter.
  struct halves {
    std::string weight;
    at::Tensor a, b;
  };

  std::vector<product> products_;
  std::vector<halves> halves_;
  std::vector<std::string> adapted_;
  double scale_ = 0, dropout_ = 0;
  std::uint32_t site_ = 0;
  int tp_index_ = 0;
};

/// A factory of the adapters of all layers inside a low_rank_adapted layer.
class low_rank_maker final : public side_maker {
 public:
  explicit low_rank_maker(lora_options const& options) : options_(options) {}

  std::shared_ptr<side_source const> make(builder_base& b, std::span<std::string_view const> weights,
                                          std::string_view whole) override;

  /// Throws `error` with exit code 64 if a target names no weight that can have adapters, or if
  /// there are no targets.
  void check_targets() const;

 private:
  lora_options options_;
  std::vector<std::string> adapted_;
};

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/adapt/low_rank.inl.hpp>
#endif
