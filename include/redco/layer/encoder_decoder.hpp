#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

namespace redco::layers {

/// A layer that runs `Encoder` on the context entry `encoder_input`, then `Decoder` on the layer's
/// input. The decoder's cross-attention reads the encoder's output from the context entry
/// `encoder_states`. Parameters are named "encoder.*" and "decoder.*".
template <layer Encoder, layer Decoder>
struct encoder_decoder {
  using layer_concept = layer_tag;
  using subs = parts<part<"encoder", Encoder>, part<"decoder", Decoder>>;
  template <class Reading, class Writing>
  using rebind = encoder_decoder<Reading, Writing>;

  template <class X>
  using out = out_t<Decoder, X>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    auto const input = w.activation;
    w.activation = w.source;
    w.inside("encoder", [&] {
      Encoder::template facts<X>(config, w);
      fact::detail::unshard_facts<out_t<Encoder, X>>(w);
    });
    w.end_encoder();
    w.activation = input;
    w.inside("decoder", [&] { Decoder::template facts<X>(config, w); });
  }
};

}  // namespace redco::layers
