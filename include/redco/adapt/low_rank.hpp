#pragma once

#include <redco/nn/builder.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::adapt::detail {

/// The LoRA adapters of one layer that computes y = x W^T, where W may join several weights. Each
/// adapter adds s (x A^T) B^T to the columns of `y` that its weight computes. Weights of experts
/// have an A and a B for each expert.
class low_rank final : public nn::detail::side_source {
 public:
  /// Finds the adapters of a layer; empty() is true if there are none, or if another pipeline stage
  /// has the layer. `weights`: names of the layer's weights. `whole`: name of all weights together,
  /// to which one common A may belong. Throws `error` with exit code 64 for adapters of experts
  /// with dropout, whose mask would have to follow each row to its expert.
  low_rank(lora_options const& options, nn::builder_base& b, std::span<std::string_view const> weights,
           std::string_view whole);

  bool empty() const { return products_.empty(); }
  /// Returns the paths of the weights that have adapters.
  std::vector<std::string> const& adapted() const { return adapted_; }

  std::vector<nn::detail::product_of_halves> products(at::Tensor const& x, nn::context_base const& ctx,
                                                      bool own_tokens) const override;
  std::vector<nn::detail::expert_factors> factors(nn::context_base const& ctx) const override;
  std::vector<nn::detail::weight_change> changes() const override;

 private:
  struct product {
    parameter a, b = {};
    /// Dimension of W, 0 or 1, along which the adapted weight is split over ranks; -1 for none.
    int cut = -1;
    std::int64_t first = 0;  ///< first column of the layer's output to which the adapter adds
    /// Number of neighbouring ranks that hold equal rows of `b`, from row `shared_from` on.
    int sharers = 1;
    /// Index of the first row of `b` that several ranks hold; they hold all later rows, too.
    std::int64_t shared_from = 0;

    void share(int ranks, std::int64_t from) {
      if (ranks > 1 && sharers == 1) sharers = ranks, shared_from = from;
    }
  };

  /// The parameters A and B of one weight's adapter, in the optimizer's precision.
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

/// A factory that makes the adapters of all layers inside a low_rank_adapted layer.
class low_rank_maker final : public nn::detail::side_maker {
 public:
  explicit low_rank_maker(lora_options const& options) : options_(options) {}

  std::shared_ptr<nn::detail::side_source const> make(nn::builder_base& b, std::span<std::string_view const> weights,
                                                      std::string_view whole) override;

  /// Throws `error` with exit code 64 if an entry of the options' `targets` names no weight that
  /// can have adapters, or if `targets` is empty.
  void check_targets() const;

 private:
  lora_options options_;
  std::vector<std::string> adapted_;
};

}  // namespace redco::adapt::detail

namespace redco {

template <auto Options, class L, class X>
struct module<adapt::low_rank_adapted<Options, L>, X> {
  /// Makes the frozen layer and its LoRA adapters. Throws `error` with exit code 64 if a target in
  /// the options names no weight of the layer.
  template <class Config>
  explicit module(nn::builder<Config>& b) : inner(made(b)) {}

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    return inner(x, ctx);
  }

  module<L, X> inner;

 private:
  template <class Config>
  static module<L, X> made(nn::builder<Config>& b) {
    adapt::detail::low_rank_maker maker(b.template extent<Options>());
    auto result = b.with_side_products(maker, [&] { return module<L, X>(b); });
    maker.check_targets();
    return result;
  }
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/adapt/low_rank.inl.hpp>
#endif
