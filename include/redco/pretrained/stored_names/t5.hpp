#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/model/t5.hpp>

#include <array>
#include <string_view>

namespace redco::pretrained {

/// Table of the names that T5's tensors have in files, for plain and gated feed-forwards. Only
/// models without a tied head have lm_head. Files may repeat the token embedding under the names of
/// encoder, decoder and tied head.
struct t5_names {
  static constexpr std::array names{
      models::stored_name{"encoder.embed_tokens.weight", "shared.weight"},
      models::stored_name{"lm_head.weight", "lm_head.weight"},
      models::stored_name{"encoder.relative_attention_bias.weight",
                          "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
      models::stored_name{"encoder.final_layer_norm.weight", "encoder.final_layer_norm.weight"},
      models::stored_name{"encoder.block.*.SelfAttention.q.weight", "encoder.block.*.layer.0.SelfAttention.q.weight"},
      models::stored_name{"encoder.block.*.SelfAttention.k.weight", "encoder.block.*.layer.0.SelfAttention.k.weight"},
      models::stored_name{"encoder.block.*.SelfAttention.v.weight", "encoder.block.*.layer.0.SelfAttention.v.weight"},
      models::stored_name{"encoder.block.*.SelfAttention.o.weight", "encoder.block.*.layer.0.SelfAttention.o.weight"},
      models::stored_name{"encoder.block.*.SelfAttention.layer_norm.weight",
                          "encoder.block.*.layer.0.layer_norm.weight"},
      models::stored_name{"encoder.block.*.DenseReluDense.wi.weight",
                          "encoder.block.*.layer.1.DenseReluDense.wi.weight"},
      models::stored_name{"encoder.block.*.DenseReluDense.gate.weight",
                          "encoder.block.*.layer.1.DenseReluDense.wi_0.weight"},
      models::stored_name{"encoder.block.*.DenseReluDense.up.weight",
                          "encoder.block.*.layer.1.DenseReluDense.wi_1.weight"},
      models::stored_name{"encoder.block.*.DenseReluDense.wo.weight",
                          "encoder.block.*.layer.1.DenseReluDense.wo.weight"},
      models::stored_name{"encoder.block.*.DenseReluDense.layer_norm.weight",
                          "encoder.block.*.layer.1.layer_norm.weight"},
      models::stored_name{"decoder.relative_attention_bias.weight",
                          "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
      models::stored_name{"decoder.final_layer_norm.weight", "decoder.final_layer_norm.weight"},
      models::stored_name{"decoder.block.*.SelfAttention.q.weight", "decoder.block.*.layer.0.SelfAttention.q.weight"},
      models::stored_name{"decoder.block.*.SelfAttention.k.weight", "decoder.block.*.layer.0.SelfAttention.k.weight"},
      models::stored_name{"decoder.block.*.SelfAttention.v.weight", "decoder.block.*.layer.0.SelfAttention.v.weight"},
      models::stored_name{"decoder.block.*.SelfAttention.o.weight", "decoder.block.*.layer.0.SelfAttention.o.weight"},
      models::stored_name{"decoder.block.*.SelfAttention.layer_norm.weight",
                          "decoder.block.*.layer.0.layer_norm.weight"},
      models::stored_name{"decoder.block.*.EncDecAttention.q.weight",
                          "decoder.block.*.layer.1.EncDecAttention.q.weight"},
      models::stored_name{"decoder.block.*.EncDecAttention.k.weight",
                          "decoder.block.*.layer.1.EncDecAttention.k.weight"},
      models::stored_name{"decoder.block.*.EncDecAttention.v.weight",
                          "decoder.block.*.layer.1.EncDecAttention.v.weight"},
      models::stored_name{"decoder.block.*.EncDecAttention.o.weight",
                          "decoder.block.*.layer.1.EncDecAttention.o.weight"},
      models::stored_name{"decoder.block.*.EncDecAttention.layer_norm.weight",
                          "decoder.block.*.layer.1.layer_norm.weight"},
      models::stored_name{"decoder.block.*.DenseReluDense.wi.weight",
                          "decoder.block.*.layer.2.DenseReluDense.wi.weight"},
      models::stored_name{"decoder.block.*.DenseReluDense.gate.weight",
                          "decoder.block.*.layer.2.DenseReluDense.wi_0.weight"},
      models::stored_name{"decoder.block.*.DenseReluDense.up.weight",
                          "decoder.block.*.layer.2.DenseReluDense.wi_1.weight"},
      models::stored_name{"decoder.block.*.DenseReluDense.wo.weight",
                          "decoder.block.*.layer.2.DenseReluDense.wo.weight"},
      models::stored_name{"decoder.block.*.DenseReluDense.layer_norm.weight",
                          "decoder.block.*.layer.2.layer_norm.weight"}};
  static constexpr std::array<std::string_view, 4> unread{
      "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight",
      "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
  static constexpr std::array<std::string_view, 1> heads{"lm_head"};
};

}  // namespace redco::pretrained

namespace redco {

template <>
struct models::stored_names<t5> : pretrained::t5_names {};
template <>
struct models::stored_names<models::t5_gated> : pretrained::t5_names {};

}  // namespace redco
