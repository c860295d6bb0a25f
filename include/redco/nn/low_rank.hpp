#pragma once

#include <redco/nn/builder.hpp>
#include <redco/nn/context.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/kernel/dropout.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/save_as.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/place.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::detail {

/// A tensor like y, but for its columns, which are those of y from `first` on.
struct some_columns {
  std::int64_t first = 0;
  at::Tensor values;
};

/// y with these added to its columns, in order.
at::Tensor plus_columns(at::Tensor const& y, std::vector<some_columns> const& parts);

/// The adapters beside a layer's product y = x W^T, where W is one weight or several read as one; none where no
/// `low_rank_adapted` is around the layer. Each is s (x A^T) B^T over the columns of y that are its weights'.
class low_rank {
 public:
  low_rank() = default;

  /// The weights' names, and that of all as one, as the layer states them in `low_rank_facts`.
  template <class Config>
  low_rank(builder<Config>& b, std::initializer_list<std::string_view> weights, std::string_view whole = {}) {
    if (b.adapters() == nullptr) return;
    lora_options const& options = *b.adapters();
    bool const as_one = !whole.empty() && b.has(leaf(whole, "lora_A"));
    std::vector<std::string> second_halves;
    std::int64_t column = 0;
    for (std::string_view const weight : weights) {
      stored_parameter const& stored = b.stored(leaf(weight, "weight"));
      place const cut = stored.plan.fact.on(axis::tp);
      bool const own = !as_one && b.has(leaf(weight, "lora_A"));
      if (own || (as_one && products_.empty())) {
        std::string_view const name = as_one ? whole : weight;
        products_.push_back({.a = b.adapter(name, leaf(name, "lora_A")), .cut = cut.dim, .first = as_one ? 0 : column});
      }
      if (own) products_.back().b = b.parameter(leaf(weight, "lora_B"));
      if (as_one) second_halves.push_back(leaf(weight, "lora_B"));
      if (own || as_one) products_.back().share(cut.sharers(b.size(axis::tp)), as_one ? column : 0);
      column += stored.value.size(0);
    }
    if (as_one) products_.back().b = b.parameters(std::span<std::string const>(second_halves));
    if (products_.empty()) return;
    scale_ = options.alpha / static_cast<double>(options.rank);
    dropout_ = b.probability(options.dropout);
    site_ = b.site();
    tp_index_ = b.coordinate(axis::tp);
  }

  bool empty() const { return products_.empty(); }

  /// Half-made products s (x A^T) B^T.
  struct product_of_halves {
    std::int64_t first_column;
    at::Tensor narrow;  ///< s (x A^T)
    at::Tensor wide;    ///< B
  };

  /// Those of all adapters. `own_tokens`: x is this rank's tokens only.
  template <class Context>
  std::vector<product_of_halves> products(at::Tensor const& x, Context const& ctx, bool own_tokens = false) const {
    std::vector<product_of_halves> all;
    if (products_.empty()) return all;
    at::Tensor read = x;
    if (ctx.pass().training && dropout_ > 0)
      read = save_as("dropped_input", kernel::dropout(x, dropout_, ctx.at(site_), ctx.pass().first_row(x.size(0)),
                                                      products_.front().cut == 1 ? tp_index_ * x.size(-1) : 0,
                                                      own_tokens ? tp_index_ * x.size(1) : 0));
    auto const half = [&](parameter p, bool on_all_ranks) {
      return on_all_ranks || own_tokens ? enter(tensor<replicated>(ctx[p]), ctx.tp()).local() : ctx[p];
    };
    for (product const& one : products_) {
      at::Tensor const narrow = save_as("low_rank", kernel::linear(read, half(one.a, one.cut == 0)) * scale_);
      all.push_back(
          {one.first, narrow, enter_shared(half(one.b, one.cut == 1), ctx.tp(), one.sharers, one.shared_from)});
    }
    return all;
  }

  /// y with the products of all adapters added to their columns.
  template <class Context>
  at::Tensor beside(at::Tensor const& y, at::Tensor const& x, Context const& ctx, bool own_tokens = false) const {
    if (products_.empty()) return y;
    std::vector<some_columns> parts;
    for (product_of_halves const& one : products(x, ctx, own_tokens))
      parts.push_back({one.first_column, kernel::linear(one.narrow, one.wide)});
    return plus_columns(y, parts);
  }

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

  static std::string leaf(std::string_view weight, std::string_view half) {
    return (weight.empty() ? "" : std::string(weight) + ".") + std::string(half) + (half == "weight" ? "" : ".weight");
  }

  std::vector<product> products_;
  double scale_ = 0, dropout_ = 0;
  std::uint32_t site_ = 0;
  int tp_index_ = 0;
};

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/low_rank.inl.hpp>
#endif
