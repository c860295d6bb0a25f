#pragma once

#include <redco/model/gptj.hpp>
#include <redco/model/stored_name.hpp>

#include <array>
#include <string_view>

namespace redco {

template <>
struct models::stored_names<gptj> {
  static constexpr std::array names{models::stored_name{"wte.weight", "transformer.wte.weight"},
                                    models::stored_name{"lm_head.weight", "lm_head.weight"},
                                    models::stored_name{"lm_head.bias", "lm_head.bias"},
                                    models::stored_name{"h.*.ln_1.weight", "transformer.h.*.ln_1.weight"},
                                    models::stored_name{"h.*.ln_1.bias", "transformer.h.*.ln_1.bias"},
                                    models::stored_name{"ln_f.weight", "transformer.ln_f.weight"},
                                    models::stored_name{"ln_f.bias", "transformer.ln_f.bias"},
                                    models::stored_name{"h.*.attn.q.weight", "transformer.h.*.attn.q_proj.weight"},
                                    models::stored_name{"h.*.attn.k.weight", "transformer.h.*.attn.k_proj.weight"},
                                    models::stored_name{"h.*.attn.v.weight", "transformer.h.*.attn.v_proj.weight"},
                                    models::stored_name{"h.*.attn.o.weight", "transformer.h.*.attn.out_proj.weight"},
                                    models::stored_name{"h.*.mlp.fc_in.weight", "transformer.h.*.mlp.fc_in.weight"},
                                    models::stored_name{"h.*.mlp.fc_in.bias", "transformer.h.*.mlp.fc_in.bias"},
                                    models::stored_name{"h.*.mlp.fc_out.weight", "transformer.h.*.mlp.fc_out.weight"},
                                    models::stored_name{"h.*.mlp.fc_out.bias", "transformer.h.*.mlp.fc_out.bias"}};
  static constexpr std::array<std::string_view, 2> unread{"transformer.h.*.attn.bias",
                                                          "transformer.h.*.attn.masked_bias"};
  static constexpr std::string_view base = "transformer.";
  static constexpr std::array<std::string_view, 1> heads{"lm_head"};
};

}  // namespace redco
