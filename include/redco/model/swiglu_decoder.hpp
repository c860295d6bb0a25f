#pragma once

#include <redco/layer/activation.hpp>
#include <redco/layer/embedding.hpp>
#include <redco/layer/gated.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/rms_norm.hpp>
#include <redco/layer/sequential.hpp>

#include <type_traits>

namespace redco {

/// What LLaMA and its kin have in common: a decoder of pre-norm blocks with RMS norms and a gated feed-forward, positions
/// only in the attention, biases there and where `Bias` says so. `Tied`: the head's table is the token embedding's. Weights start
/// normal.
template <class Config, layer Attention, bool Tied = false, auto Bias = false>
struct swiglu_decoder {
  static constexpr auto vocab = &Config::vocab;
  static constexpr auto width = &Config::width;
  static constexpr auto ffn = &Config::ffn;
  static constexpr auto layers = &Config::layers;
  static constexpr auto epsilon = &Config::norm_epsilon;
  static constexpr auto padding = &Config::padding;

  using attention_branch =
      residual<sequential<named<"input_layernorm", rms_norm<width, epsilon>>, named<"self_attn", Attention>>>;
  using mlp_branch =
      residual<sequential<named<"post_attention_layernorm", rms_norm<width, epsilon>>,
                          named<"mlp", sequential<gated<width, ffn, activation<&Config::activation>, Bias>,
                                                  named<"down", linear<ffn, width, Bias>>>>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head = std::conditional_t<Tied, language_head<vocab, width, "embed_tokens.weight">,
                                  named<"lm_head", language_head<vocab, width>>>;
  using net =
      initialised<&Config::deviation,
                  sequential<named<"embed_tokens", embedding<vocab, width, "", padding>>,
                             named<"layers", repeat<layers, block>>, named<"norm", rms_norm<width, epsilon>>, head>>;
};

}  // namespace redco
