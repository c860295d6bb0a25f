#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/lookup.hpp>
#include <redco/layer/embedding.hpp>

#include <cstdint>

namespace redco {

template <auto Vocabulary, auto Width, meta::fixed_string Tied, auto Padding, class X>
struct module<embedding<Vocabulary, Width, Tied, Padding>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : vocabulary(b.template extent<Vocabulary>()),
        padding(b.template extent<Padding>()),
        tp_index(b.coordinate(shape::axis::tp)) {
    if constexpr (Tied.view().empty()) {
      weight = b.parameter("weight");
    } else {
      weight = b.tied(Tied.view());
    }
  }

  template <class Context>
  tensor<shape::partial> operator()(tensor<X> const& ids, Context const& ctx) const {
    at::Tensor const& table = ctx[weight];
    return tensor<shape::partial>(kernel::lookup(table, ids.local(), tp_index * table.size(0), vocabulary, padding));
  }

  /// Handle to this shard's rows of the embedding table, [rows of this shard, Width]
  parameter weight;
  std::int64_t vocabulary, padding;
  int tp_index;
};

}  // namespace redco
