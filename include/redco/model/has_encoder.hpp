#pragma once

#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>

#include <redco/fact/path.hpp>

namespace redco::models::detail {

template <class L>
inline constexpr bool is_encoder_decoder = false;
template <class Encoder, class Decoder>
inline constexpr bool is_encoder_decoder<layers::encoder_decoder<Encoder, Decoder>> = true;

struct reads_with_an_encoder {
  template <class L, fact::path>
  static constexpr bool holds = is_encoder_decoder<L>;
};

}  // namespace redco::models::detail

namespace redco::models {

/// True if the layer tree `Net` of a model contains an encoder-decoder. Only such models use
/// `workload::source`, the length of the encoder's input.
template <layer Net>
inline constexpr bool has_encoder = layers::any_layer<Net, detail::reads_with_an_encoder>;

}  // namespace redco::models
