#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/pass.hpp>
#include <redco/layer/encoder_decoder.hpp>

#include <cstddef>

namespace redco {

template <class Encoder, class Decoder, class X>
struct module<layers::encoder_decoder<Encoder, Decoder>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : encoder(b.inside("encoder", [&] { return module<Encoder, X>(b); })),
        decoder(b.inside("decoder", [&] { return module<Decoder, X>(b); })),
        cache_slot(b.cache_slot()) {}

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    nn::key_value_cache* const cache = ctx.pass().cache;
    auto const encoded = [&] { return encode(ctx).local(); };
    tensor<shape::replicated> const states(cache == nullptr ? encoded() : cache->once(cache_slot, encoded));
    return nn::detail::in_layer("decoder", x, ctx.pass(),
                                [&] { return decoder(x, ctx.with(nn::encoder_states{states})); });
  }

  module<Encoder, X> encoder;
  module<Decoder, X> decoder;
  std::size_t cache_slot;

 private:
  /// Returns the encoder's output for the encoder's input in the context. Runs the encoder without
  /// key-value cache, and with the encoder's mask as key mask.
  template <class Context>
  tensor<shape::replicated> encode(Context const& ctx) const {
    if constexpr (Context::template require<encoder_input>()) {
      pass in = ctx.pass();
      in.cache = nullptr;
      tensor<X> const source(ctx.template get<encoder_input>());
      auto const alone = ctx.in(in).template without<key_mask>().template without<nn::token_positions>();
      if constexpr (Context::template has<encoder_mask>) {
        auto const masked = alone.with(key_mask{ctx.template get<encoder_mask>()});
        return encode_in(source, masked);
      } else {
        return encode_in(source, alone);
      }
    } else {
      return {};
    }
  }

  template <class Context>
  tensor<shape::replicated> encode_in(tensor<X> const& source, Context const& ctx) const {
    return nn::detail::in_layer("encoder", source, ctx.pass(),
                                [&] { return nn::detail::unshard(encoder(source, ctx), ctx.pass()); });
  }
};

}  // namespace redco
