#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/layer/encoder_decoder.hpp>

#include <cstddef>
#include <cstdint>

namespace redco {

template <class Encoder, class Decoder, class X>
struct module<layers::encoder_decoder<Encoder, Decoder>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : encoder(b.inside("encoder", [&] { return module<Encoder, X>(b); })),
        encoder_end(b.blocks_before()),
        decoder(b.inside("decoder", [&] { return module<Decoder, X>(b); })),
        cache_slot(b.cache_slot()) {}

  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
    tensor<shape::replicated> const states(states_of(ctx));
    return nn::detail::in_layer("decoder", x, ctx.pass(),
                                [&] { return decoder(x, ctx.with(nn::encoder_states{states})); });
  }

  module<Encoder, X> encoder;
  /// Number of blocks of outermost `repeat`s up to the end of the encoder
  std::int64_t encoder_end;
  module<Decoder, X> decoder;
  std::size_t cache_slot;

 private:
  /// Returns the encoder's output. With a key-value cache, it is computed in the first call only. A
  /// pipeline stage that begins inside the decoder receives it from the preceding stage.
  template <class Context>
  at::Tensor states_of(Context const& ctx) const {
    nn::key_value_cache* const cache = ctx.pass().cache;
    nn::stage_link* const stage = ctx.pass().stage;
    auto const encoded = [&] { return encode(ctx).local(); };
    if (stage == nullptr) return cache == nullptr ? encoded() : cache->once(cache_slot, encoded);
    auto const of_stage = [&] {
      at::Tensor const own = encoded();
      return stage->is_before() ? stage->received().states : own;
    };
    // The first call of decoding has an empty cache, also in the later chunks of a stage.
    if (cache != nullptr && cache->length() > 0) stage->skip_encoder(encoder_end);
    else stage->begin_encoder();
    if (cache == nullptr) return of_stage();
    if (at::Tensor const states = cache->length() > 0 ? at::Tensor() : of_stage(); states.defined())
      return cache->once(cache_slot, [&] { return states; });
    return cache->kept(cache_slot);
  }

  /// Returns the encoder's output for the encoder's input in the context. Runs the encoder without
  /// key-value cache, and with the encoder's mask as key mask.
  template <class Context>
  tensor<shape::replicated> encode(Context const& ctx) const {
    if constexpr (Context::template require<encoder_input>()) {
      pass in = ctx.pass();
      in.cache = nullptr;
      // The members of the decoder's pass describe the decoder's tokens.
      in.real = in.text_lengths = in.own_text_lengths = at::Tensor();
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
    return nn::detail::in_layer("encoder", source, ctx.pass(), [&]() -> tensor<shape::replicated> {
      auto const y = encoder(source, ctx);
      if (nn::detail::is_elsewhere(ctx.pass())) return {};
      return nn::detail::unshard(y, ctx.pass());
    });
  }
};

}  // namespace redco
