#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/model/vision_encoder_decoder.hpp>

#include <array>
#include <string_view>

namespace redco {

/// Table of the names that the tensors of a ViT encoder and a GPT-2 decoder have in files. Files
/// store the decoder's matrices as [in, out]. They store query, key and value in one tensor, and
/// key and value of an attention to the encoder's output.
template <>
struct models::stored_names<models::vision_encoder_decoder> {
  static constexpr std::array names{
      models::stored_name{
          .ours = "encoder.embeddings.cls_token.weight", .theirs = "encoder.embeddings.cls_token", .ones = 2},
      models::stored_name{.ours = "encoder.embeddings.position_embeddings.weight",
                          .theirs = "encoder.embeddings.position_embeddings",
                          .ones = 1},
      models::stored_name{"encoder.embeddings.patch_embeddings.weight",
                          "encoder.embeddings.patch_embeddings.projection.weight"},
      models::stored_name{"encoder.embeddings.patch_embeddings.bias",
                          "encoder.embeddings.patch_embeddings.projection.bias"},
      models::stored_name{"encoder.layer.*.attention.q.weight",
                          "encoder.encoder.layer.*.attention.attention.query.weight"},
      models::stored_name{"encoder.layer.*.attention.q.bias", "encoder.encoder.layer.*.attention.attention.query.bias"},
      models::stored_name{"encoder.layer.*.attention.k.weight",
                          "encoder.encoder.layer.*.attention.attention.key.weight"},
      models::stored_name{"encoder.layer.*.attention.k.bias", "encoder.encoder.layer.*.attention.attention.key.bias"},
      models::stored_name{"encoder.layer.*.attention.v.weight",
                          "encoder.encoder.layer.*.attention.attention.value.weight"},
      models::stored_name{"encoder.layer.*.attention.v.bias", "encoder.encoder.layer.*.attention.attention.value.bias"},
      models::stored_name{"encoder.layer.*.attention.o.weight",
                          "encoder.encoder.layer.*.attention.output.dense.weight"},
      models::stored_name{"encoder.layer.*.attention.o.bias", "encoder.encoder.layer.*.attention.output.dense.bias"},
      models::stored_name{"encoder.layer.*.layernorm_before.weight", "encoder.encoder.layer.*.layernorm_before.weight"},
      models::stored_name{"encoder.layer.*.layernorm_before.bias", "encoder.encoder.layer.*.layernorm_before.bias"},
      models::stored_name{"encoder.layer.*.layernorm_after.weight", "encoder.encoder.layer.*.layernorm_after.weight"},
      models::stored_name{"encoder.layer.*.layernorm_after.bias", "encoder.encoder.layer.*.layernorm_after.bias"},
      models::stored_name{"encoder.layer.*.intermediate.weight", "encoder.encoder.layer.*.intermediate.dense.weight"},
      models::stored_name{"encoder.layer.*.intermediate.bias", "encoder.encoder.layer.*.intermediate.dense.bias"},
      models::stored_name{"encoder.layer.*.output.weight", "encoder.encoder.layer.*.output.dense.weight"},
      models::stored_name{"encoder.layer.*.output.bias", "encoder.encoder.layer.*.output.dense.bias"},
      models::stored_name{"encoder.layernorm.weight", "encoder.layernorm.weight"},
      models::stored_name{"encoder.layernorm.bias", "encoder.layernorm.bias"},
      models::stored_name{"encoder.enc_to_dec_proj.weight", "enc_to_dec_proj.weight"},
      models::stored_name{"encoder.enc_to_dec_proj.bias", "enc_to_dec_proj.bias"},
      models::stored_name{"decoder.wte.weight", "decoder.transformer.wte.weight"},
      models::stored_name{"decoder.wpe.weight", "decoder.transformer.wpe.weight"},
      models::stored_name{"decoder.h.*.ln_1.weight", "decoder.transformer.h.*.ln_1.weight"},
      models::stored_name{"decoder.h.*.ln_1.bias", "decoder.transformer.h.*.ln_1.bias"},
      models::stored_name{"decoder.h.*.ln_cross_attn.weight", "decoder.transformer.h.*.ln_cross_attn.weight"},
      models::stored_name{"decoder.h.*.ln_cross_attn.bias", "decoder.transformer.h.*.ln_cross_attn.bias"},
      models::stored_name{"decoder.h.*.ln_2.weight", "decoder.transformer.h.*.ln_2.weight"},
      models::stored_name{"decoder.h.*.ln_2.bias", "decoder.transformer.h.*.ln_2.bias"},
      models::stored_name{"decoder.h.*.attn.q.weight", "decoder.transformer.h.*.attn.c_attn.weight", true, 0, 3},
      models::stored_name{"decoder.h.*.attn.q.bias", "decoder.transformer.h.*.attn.c_attn.bias", false, 0, 3},
      models::stored_name{"decoder.h.*.attn.k.weight", "decoder.transformer.h.*.attn.c_attn.weight", true, 1, 3},
      models::stored_name{"decoder.h.*.attn.k.bias", "decoder.transformer.h.*.attn.c_attn.bias", false, 1, 3},
      models::stored_name{"decoder.h.*.attn.v.weight", "decoder.transformer.h.*.attn.c_attn.weight", true, 2, 3},
      models::stored_name{"decoder.h.*.attn.v.bias", "decoder.transformer.h.*.attn.c_attn.bias", false, 2, 3},
      models::stored_name{"decoder.h.*.attn.o.weight", "decoder.transformer.h.*.attn.c_proj.weight", true},
      models::stored_name{"decoder.h.*.attn.o.bias", "decoder.transformer.h.*.attn.c_proj.bias"},
      models::stored_name{"decoder.h.*.crossattention.q.weight", "decoder.transformer.h.*.crossattention.q_attn.weight",
                          true},
      models::stored_name{"decoder.h.*.crossattention.q.bias", "decoder.transformer.h.*.crossattention.q_attn.bias"},
      models::stored_name{"decoder.h.*.crossattention.k.weight", "decoder.transformer.h.*.crossattention.c_attn.weight",
                          true, 0, 2},
      models::stored_name{"decoder.h.*.crossattention.k.bias", "decoder.transformer.h.*.crossattention.c_attn.bias",
                          false, 0, 2},
      models::stored_name{"decoder.h.*.crossattention.v.weight", "decoder.transformer.h.*.crossattention.c_attn.weight",
                          true, 1, 2},
      models::stored_name{"decoder.h.*.crossattention.v.bias", "decoder.transformer.h.*.crossattention.c_attn.bias",
                          false, 1, 2},
      models::stored_name{"decoder.h.*.crossattention.o.weight", "decoder.transformer.h.*.crossattention.c_proj.weight",
                          true},
      models::stored_name{"decoder.h.*.crossattention.o.bias", "decoder.transformer.h.*.crossattention.c_proj.bias"},
      models::stored_name{"decoder.h.*.mlp.up.weight", "decoder.transformer.h.*.mlp.c_fc.weight", true},
      models::stored_name{"decoder.h.*.mlp.up.bias", "decoder.transformer.h.*.mlp.c_fc.bias"},
      models::stored_name{"decoder.h.*.mlp.down.weight", "decoder.transformer.h.*.mlp.c_proj.weight", true},
      models::stored_name{"decoder.h.*.mlp.down.bias", "decoder.transformer.h.*.mlp.c_proj.bias"},
      models::stored_name{"decoder.ln_f.weight", "decoder.transformer.ln_f.weight"},
      models::stored_name{"decoder.ln_f.bias", "decoder.transformer.ln_f.bias"}};
  static constexpr std::array<std::string_view, 7> unread{"decoder.lm_head.weight",
                                                          "decoder.transformer.h.*.attn.bias",
                                                          "decoder.transformer.h.*.attn.masked_bias",
                                                          "decoder.transformer.h.*.crossattention.bias",
                                                          "decoder.transformer.h.*.crossattention.masked_bias",
                                                          "encoder.pooler.*",
                                                          "encoder.embeddings.mask_token"};
};

}  // namespace redco
