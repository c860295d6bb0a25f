#pragma once

#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/sequential.hpp>

#include <redco/meta/fixed_string.hpp>

namespace redco {

/// Whether an encoder stands before the decoder of layer type L: only then does `workload::source` have a meaning.
template <class L>
inline constexpr bool has_encoder = false;
template <class Encoder, class Decoder>
inline constexpr bool has_encoder<encoder_decoder<Encoder, Decoder>> = true;
template <class... Ls>
inline constexpr bool has_encoder<sequential<Ls...>> = (has_encoder<Ls> || ...);
template <fixed_string Name, class L>
inline constexpr bool has_encoder<named<Name, L>> = has_encoder<L>;
template <auto Deviation, class L>
inline constexpr bool has_encoder<initialised<Deviation, L>> = has_encoder<L>;

}  // namespace redco
