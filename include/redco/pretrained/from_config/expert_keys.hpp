#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>

#include <cstdint>
#include <string>

namespace redco::pretrained {

/// Reads the keys of a config.json that OLMoE, Mixtral and Qwen3-MoE share. Sizes that are absent
/// keep the values of `g`. Throws `error` with exit code 65 for more experts per token than
/// experts. The model cannot be trained if the keys request the auxiliary loss of transformers.
template <class Config>
void read_expert_keys(config_reader& c, Config& g) {
  g.experts = c.extent({"num_local_experts", "num_experts"}, g.experts);
  g.experts_per_token = c.extent({"num_experts_per_tok"}, g.experts_per_token);
  if (g.experts_per_token > g.experts)
    c.refuse(std::to_string(g.experts_per_token) + " experts per token of " + std::to_string(g.experts) +
             " experts; correct \"num_experts_per_tok\" or \"" +
             (c.names("num_local_experts") ? "num_local_experts" : "num_experts") + "\"");
  double const factor = c.real("router_aux_loss_coef", 0.001, 0, 1e6);
  if (c.flag("output_router_logits", false) && factor != 0)
    c.cannot_train(
        "\"output_router_logits\" is true, which in training adds an auxiliary loss over all blocks together, "
        "and this loss is not computed here; set it to false");
}

/// Reads the keys that OLMoE and Qwen3-MoE have, and Mixtral does not: biases of attention, and
/// weights of experts divided by their sum.
template <class Config>
void read_expert_flags(config_reader& c, Config& g) {
  g.attention_bias = c.flag("attention_bias", false);
  g.normalised = c.flag("norm_topk_prob", false);
}

}  // namespace redco::pretrained
