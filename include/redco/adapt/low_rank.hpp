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

/// The adapters beside a layer's product y = x W^T: each is s (x A^T) B^T over the columns of y
/// that are its weight's.
class low_rank final : public side_source {
 public:
  /// The weights' names, and that of all as one, as low_rank_facts state them. Empty without
  /// adapters.
  low_rank(lora_options const& options, builder_base& b, std::span<std::string_view const> weights,
           std::string_view whole);

  bool empty() const { return products_.empty(); }
  std::vector<std::string> const& adapted() const { return adapted_; }  ///< paths of weights

  std::vector<product_of_halves> products(at::Tensor const& x, context_base const& ctx, bool own_tokens) const override;
  std::vector<weight_change> changes() const override;

 private:
  struct product {
    parameter a, b = {};
    int cut = -1;                  ///< the dimension along which the weight is cut
    std::int64_t first = 0;        ///< of its columns
    int sharers = 1;               ///< neighbouring ranks that hold rows of b alike,
    std::int64_t shared_from = 0;  ///< these and those behind them

    void share(int ranks, std::int64_t from) {
      if (ranks > 1 && sharers == 1) sharers = ranks, shared_from = from;
    }
  };

  /// The masters of a weight's adapter.
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

/// Makes the adapters of the layers inside a low_rank_adapted.
class low_rank_maker final : public side_maker {
 public:
  explicit low_rank_maker(lora_options const& options) : options_(options) {}

  std::shared_ptr<side_source const> make(builder_base& b, std::span<std::string_view const> weights,
                                          std::string_view whole) override;

  /// Errors: exit code 64 for a target that names none of the weights that have adapters.
  void check_targets() const;

 private:
  lora_options options_;
  std::vector<std::string> adapted_;
};

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/adapt/low_rank.inl.hpp>
#endif
