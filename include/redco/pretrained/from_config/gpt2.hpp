#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/gpt_keys.hpp>
#include <redco/model/gpt2.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a GPT-2 model from the keys of a config.json.
struct gpt2_from_config {
  static constexpr std::string_view name = "gpt2";

  static gpt2 read(config_reader& c) {
    gpt2 model;
    read_gpt_keys(c, model.config, {"GPT2LMHeadModel", {}, {"GPT2Model"}}, 0.1);
    c.only("tie_word_embeddings", true);
    c.only("scale_attn_by_inverse_layer_idx", false);
    c.skip({"reorder_and_upcast_attn"});
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
