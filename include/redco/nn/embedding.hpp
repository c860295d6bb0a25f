#pragma once

#include <redco/layer/embedding.hpp>
#include <redco/nn/kernel/lookup.hpp>
#include <redco/nn/module.hpp>

#include <cstdint>

namespace redco {

template <auto Vocabulary, auto Width, class X>
struct module<embedding<Vocabulary, Width>, X> {
  template <class Config>
  explicit module(builder<Config>& b)
      : weight(b.parameter("weight")), vocabulary(b.template extent<Vocabulary>()), mp_index(b.mp_index()) {}

  template <class Context>
  tensor<partial> operator()(tensor<X> const& ids, Context const&) const {
    return tensor<partial>(kernel::lookup(weight, ids.local(), mp_index * weight.size(0), vocabulary));
  }

  at::Tensor weight;  ///< [rows of this shard, Width]
  std::int64_t vocabulary;
  int mp_index;
};

}  // namespace redco
