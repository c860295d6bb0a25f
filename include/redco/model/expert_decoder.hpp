#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/routing_traits.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

namespace redco::models::detail {

/// The layers of a LLaMA whose feed-forward layers are mixtures of experts, such as OLMoE and
/// Mixtral. `Config`: the model's config, with the members of `olmoe_config`. `Coefficient`: a
/// member or function of the config, the factor of the routers' auxiliary loss. `Traits`: further
/// traits of attention.
template <class Config, auto Coefficient, class... Traits>
struct expert_decoder {
  static constexpr auto vocab = &Config::vocab;
  static constexpr auto width = &Config::width;
  static constexpr auto epsilon = &Config::norm_epsilon;

  using attention =
      causal_attention<width, &Config::heads, key_value_heads<&Config::kv_heads>, layers::head_dim<&Config::head_dim>,
                       layers::biased<&Config::attention_bias>, layers::attention_dropout<&Config::attention_dropout>,
                       Traits..., layers::rotary<&Config::theta, 0, layers::rotary_pairs::halves, &Config::scaling>>;
  using attention_branch =
      residual<sequential<named<"input_layernorm", rms_norm<width, epsilon>>, named<"self_attn", attention>>>;
  using all_experts = layers::experts<&Config::experts, width, &Config::ffn, layers::activation<&Config::activation>>;
  using mlp =
      layers::moe<all_experts, layers::top<&Config::experts_per_token>, layers::dispatch::cdac,
                  layers::routing::normalised<&Config::normalised>, layers::routing::auxiliary_loss<Coefficient>>;
  using mlp_branch =
      residual<sequential<named<"post_attention_layernorm", rms_norm<width, epsilon>>, named<"mlp", mlp>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head = layers::language_head<vocab, width, "embed_tokens.weight", layers::head_bias::none, &Config::tied>;
  using net = layers::initialised<&Config::deviation,
                                  sequential<named<"embed_tokens", embedding<vocab, width, "", &Config::padding>>,
                                             named<"layers", repeat<&Config::layers, block>>,
                                             named<"norm", rms_norm<width, epsilon>>, named<"lm_head", head>>>;
};

}  // namespace redco::models::detail
