#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/model/gpt_neo.hpp>

#include <redco/json/value.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::pretrained {

/// A reader that makes a GPT-Neo model from the keys of a config.json.
struct gpt_neo_from_config {
  static constexpr std::string_view name = "gpt_neo";

  static gpt_neo read(config_reader& c) {
    gpt_neo model;
    models::gpt_neo_config& g = model.config;
    read_common_keys(c, {"GPTNeoForCausalLM", {}, {"GPTNeoModel"}});
    g.vocab = c.extent({"vocab_size"}, g.vocab);
    g.context = c.extent({"max_position_embeddings"}, g.context);
    g.width = c.extent({"hidden_size"}, g.width);
    g.heads = c.extent({"num_heads", "num_attention_heads"}, g.heads);
    g.layers = c.extent({"num_layers", "num_hidden_layers"}, g.layers);
    g.inner = c.extent({"intermediate_size"}, 0);
    g.dropout = read_one_dropout(c, {"resid_dropout", "embed_dropout", "attention_dropout"}, 0);
    g.activation = read_activation(c, "activation_function", g.activation);
    g.norm_epsilon = c.real("layer_norm_epsilon", 1e-5, 1e-30, 1);
    g.deviation = read_deviation(c);
    check_heads(c, g.width, g.heads);
    read_windows(c, g);
    c.only("tie_word_embeddings", true);
    c.skip({"classifier_dropout", "summary_activation", "summary_first_dropout"});
    c.finish();
    return model;
  }

 private:
  /// Reads from a config.json which blocks limit attention to a window of tokens. `attention_types`
  /// is a list of pairs: a list of block types, and the number of its repetitions. The key
  /// `attention_layers`, which transformers also writes, has the expanded list.
  static void read_windows(config_reader& c, models::gpt_neo_config& g) {
    std::int64_t const window = c.extent({"window_size"}, 256);
    json::json_value const usual = {{{"global", "local"}, 12U}};
    json::json_value const* types = c.find("attention_types");
    if (types == nullptr) types = &usual;
    json::json_value const* const layers = c.find("attention_layers");
    auto const must = [&](bool holds) {
      if (!holds)
        c.refuse(c.is("attention_types", *types) +
                 "; write pairs of a list of \"global\" and \"local\" and how often it repeats, one type for each of " +
                 std::to_string(g.layers) + " layers, the same for every second layer");
    };
    std::array<std::string, 2> kinds;  // types of even and of odd blocks
    std::int64_t count = 0;
    must(types->is_array());
    for (json::json_value const& pair : *types) {
      must(pair.is_array() && pair.size() == 2 && pair[0].is_array() && pair[1].is_number_unsigned());
      auto const size = static_cast<std::int64_t>(pair[0].size());
      auto const times = pair[1].get<std::uint64_t>();
      must(times <= static_cast<std::uint64_t>(g.layers));
      for (std::int64_t i = 0; i < std::min<std::int64_t>(static_cast<std::int64_t>(times), 2) * size; ++i) {
        json::json_value const& kind = pair[0][static_cast<std::size_t>(i % size)];
        must(kind == "global" || kind == "local");
        std::string& known = kinds[static_cast<std::size_t>((count + i) % 2)];
        must(known.empty() || kind == known);
        known = kind;
      }
      count += static_cast<std::int64_t>(times) * size;
    }
    must(count == g.layers);
    if (layers != nullptr) {
      bool alike = layers->is_array() && layers->size() == static_cast<std::size_t>(g.layers);
      for (std::size_t i = 0; alike && i < layers->size(); ++i) alike = (*layers)[i] == kinds[i % 2];
      if (!alike)
        c.refuse(c.is("attention_layers", *layers) + " and " + c.is("attention_types", *types) +
                 ", but both say the same of a model; remove the wrong one");
    }
    g.even_window = kinds[0] == "local" ? window : 0;
    g.odd_window = kinds[1] == "local" ? window : 0;
  }
};

}  // namespace redco::pretrained
