#pragma once

#include <redco/model/gpt_neo.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco {

template <>
struct models::stored_names<gpt_neo> {
  static constexpr std::array names{
      models::stored_name{"wte.weight", "transformer.wte.weight"},
      models::stored_name{"wpe.weight", "transformer.wpe.weight"},
      models::stored_name{"h.*.ln_1.weight", "transformer.h.*.ln_1.weight"},
      models::stored_name{"h.*.ln_1.bias", "transformer.h.*.ln_1.bias"},
      models::stored_name{"h.*.ln_2.weight", "transformer.h.*.ln_2.weight"},
      models::stored_name{"h.*.ln_2.bias", "transformer.h.*.ln_2.bias"},
      models::stored_name{"ln_f.weight", "transformer.ln_f.weight"},
      models::stored_name{"ln_f.bias", "transformer.ln_f.bias"},
      models::stored_name{"h.*.attn.q.weight", "transformer.h.*.attn.attention.q_proj.weight"},
      models::stored_name{"h.*.attn.k.weight", "transformer.h.*.attn.attention.k_proj.weight"},
      models::stored_name{"h.*.attn.v.weight", "transformer.h.*.attn.attention.v_proj.weight"},
      models::stored_name{"h.*.attn.o.weight", "transformer.h.*.attn.attention.out_proj.weight"},
      models::stored_name{"h.*.attn.o.bias", "transformer.h.*.attn.attention.out_proj.bias"},
      models::stored_name{"h.*.mlp.up.weight", "transformer.h.*.mlp.c_fc.weight"},
      models::stored_name{"h.*.mlp.up.bias", "transformer.h.*.mlp.c_fc.bias"},
      models::stored_name{"h.*.mlp.down.weight", "transformer.h.*.mlp.c_proj.weight"},
      models::stored_name{"h.*.mlp.down.bias", "transformer.h.*.mlp.c_proj.bias"}};
  static constexpr std::array<std::string_view, 3> unread{"lm_head.weight", "transformer.h.*.attn.attention.bias",
                                                          "transformer.h.*.attn.attention.masked_bias"};
  static constexpr std::string_view base = "transformer.";
};

}  // namespace redco
