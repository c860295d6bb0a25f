#pragma once

#include <redco/layer/encoder_decoder.hpp>
#include <redco/nn/context_keys.hpp>
#include <redco/nn/module.hpp>

namespace redco {

template <class Encoder, class Decoder, class X>
struct module<encoder_decoder<Encoder, Decoder>, X> {
  template <class Config>
  explicit module(builder<Config>& b)
      : encoder(b.inside("encoder", [&] { return module<Encoder, X>(b); })),
        decoder(b.inside("decoder", [&] { return module<Decoder, X>(b); })) {}

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    tensor<X> const source(ctx.template get<encoder_input>());
    auto const states = detail::settle(encoder(source, ctx), ctx.mp());
    return decoder(x, ctx.template with<encoder_states>(states));
  }

  module<Encoder, X> encoder;
  module<Decoder, X> decoder;
};

}  // namespace redco
