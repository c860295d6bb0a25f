#pragma once

#include <redco/nn/logits.hpp>
#include <redco/nn/module.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/layer/language_head.hpp>

#include <cstdint>

namespace redco {

template <auto Vocabulary, auto Width, meta::fixed_string Tied, layers::head_bias Bias, auto When, auto SoftCap,
          class X>
struct module<layers::language_head<Vocabulary, Width, Tied, Bias, When, SoftCap>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : vocabulary(b.template extent<Vocabulary>()),
        tp_index(b.coordinate(shape::axis::tp)),
        soft_cap(static_cast<double>(b.template extent<SoftCap>())) {
    b.set_vocabulary(vocabulary);
    bool const tied = layers::language_head<Vocabulary, Width, Tied, Bias, When, SoftCap>::is_tied(b.config());
    weight = tied ? b.tied(Tied.view()) : b.parameter("weight");
    if constexpr (Bias != layers::head_bias::none) bias = b.parameter("bias");
  }

  template <class Context>
  logits operator()(tensor<X> const& x, Context const& ctx) const {
    tensor<shape::entered> const hidden = nn::detail::entering(x, ctx.tp());
    tensors::saved_watch::expect(hidden.local());  // The loss saves the hidden states.
    at::Tensor const& table = ctx[weight];
    logits y{hidden, table, ctx[bias], vocabulary, tp_index * table.size(0), &ctx.tp(), soft_cap};
    y.cp = ctx.pass().cp;
    y.tokens = ctx.pass().tokens;
    return y;
  }

  parameter weight, bias;
  std::int64_t vocabulary;
  int tp_index;
  double soft_cap;
};

}  // namespace redco
