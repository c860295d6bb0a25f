#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/gpt2.hpp>
#include <redco/model/gptj.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a GPT-J model from the keys of a config.json.
struct gptj_from_config {
  static constexpr std::string_view name = "gptj";

  static gptj read(config_reader& c) {
    gptj model;
    models::gptj_config& g = model.config;
    read_gpt_keys(c, g, {"GPTJForCausalLM", {}, {"GPTJModel"}}, 0);
    g.rotary_dim = c.extent({"rotary_dim"}, c.names("rotary_dim") ? g.width / g.heads : g.rotary_dim);
    if (g.rotary_dim % 2 != 0 || g.rotary_dim > g.width / g.heads)
      c.refuse(c.is("rotary_dim", g.rotary_dim) + "; write an even number up to the features of a head");
    c.only("tie_word_embeddings", false);
    c.only("rotary", true);
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
