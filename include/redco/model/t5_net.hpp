#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/distance_biased.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embedding.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/rms_norm.hpp>
#include <redco/layer/scale.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/unscaled.hpp>
#include <redco/layer/with_distance_bias.hpp>

#include <redco/meta/fixed_string.hpp>

namespace redco::models {

/// The structure of T5 (Raffel et al. 2020) with a given type of feed-forward layer: an
/// encoder-decoder with RMS norms before each residual branch and without biases. Scores lack the
/// factor 1 / sqrt(head_dim). Positions enter only as a bias by distance on the scores, one for all
/// encoder blocks and one for all decoder blocks. Both use one token embedding. A tied head
/// multiplies its input by 1 / sqrt(width).
template <class Config, layer FeedForward>
struct t5_net {
  static constexpr auto vocab = &Config::vocab;
  static constexpr auto width = &Config::width;
  static constexpr auto heads = &Config::heads;
  static constexpr auto buckets = &Config::buckets;
  static constexpr auto farthest = &Config::farthest;
  static constexpr auto epsilon = &Config::norm_epsilon;
  static constexpr auto drop = &Config::dropout;
  static constexpr auto from_width = &Config::from_width;
  static constexpr auto from_query = &Config::from_query;
  static constexpr auto from_heads = &Config::from_heads;

  template <layers::attention_kind Kind, class... Traits>
  using attention = layers::attention<Kind, width, heads, layers::head_dim<&Config::head_dim>, layers::biased<false>,
                                      layers::attention_dropout<drop>, layers::query_deviation<from_query>,
                                      layers::output_deviation<from_heads>, layers::unscaled, Traits...>;
  template <meta::fixed_string Name, layer Branch>
  using branch = residual<
      sequential<named<Name, sequential<named<"layer_norm", rms_norm<width, epsilon>>, Branch>>, dropout<drop>>>;
  using self_attention = branch<"SelfAttention", attention<layers::attention_kind::full, layers::distance_biased>>;
  using causal_self_attention =
      branch<"SelfAttention", attention<layers::attention_kind::causal, layers::distance_biased>>;
  using cross_attention = branch<"EncDecAttention", attention<layers::attention_kind::cross>>;
  using feed_forward = branch<"DenseReluDense", FeedForward>;

  template <layers::attention_kind Kind, auto Layers, meta::fixed_string Tokens, layer Block>
  using stack =
      sequential<named<"embed_tokens", layers::initialised<&Config::deviation, embedding<vocab, width, Tokens>>>,
                 dropout<drop>,
                 layers::with_distance_bias<Kind, heads, buckets, farthest, named<"block", repeat<Layers, Block>>>,
                 named<"final_layer_norm", rms_norm<width, epsilon>>, dropout<drop>>;
  using encoder = stack<layers::attention_kind::full, &Config::layers, "", sequential<self_attention, feed_forward>>;
  using decoder = stack<layers::attention_kind::causal, &Config::decoder_layers, "encoder.embed_tokens.weight",
                        sequential<causal_self_attention, cross_attention, feed_forward>>;
  using table =
      layers::language_head<vocab, width, "encoder.embed_tokens.weight", layers::head_bias::none, &Config::tied>;
  using head =
      sequential<layers::scale<&Config::head_factor>, named<"lm_head", layers::initialised<&Config::deviation, table>>>;
  using net = layers::initialised<from_width, sequential<layers::encoder_decoder<encoder, decoder>, head>>;
};

}  // namespace redco::models
