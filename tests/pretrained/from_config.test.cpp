#include "catch.hpp"
#include "shared_folder.hpp"
#include "skip.hpp"

#include <redco/pretrained/from_config/families.hpp>

#include <redco/shard/facts.hpp>
#include <redco/json/parse.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace from_config_test {

std::string const gpt2 =
    R"("model_type": "gpt2", "vocab_size": 97, "n_positions": 48, "n_embd": 48, "n_head": 4, "n_layer": 2)";
std::string const llama =
    R"("model_type": "llama", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48, "intermediate_size": 80,
       "num_attention_heads": 4, "num_hidden_layers": 2)";

template <class M>
std::int64_t numbers_in(M const& model) {
  std::int64_t sum = 0;
  for (redco::fact::parameter_fact const& f : redco::shard::facts_of(model).parameters)
    sum += f.shape.count() * f.copies();
  return sum;
}

/// Returns the number of parameters of the model that a configuration describes.
std::int64_t count_of(redco::json::json_value const& config) {
  return redco::pretrained::model_from_config(config, "c.json", [](auto const& m) { return numbers_in(m); });
}
std::int64_t numbers_of(std::string const& members) {
  return count_of(redco::json::parse_json("{" + members + "}", "c.json"));
}

std::string refusal(std::string const& members) {
  try {
    numbers_of(members);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return e.what();
  }
  return "accepted";
}

TEST_CASE("sizes are read under all their names") {
  std::int64_t const d = 48, gpt2_numbers = 2 * (12 * d * d + 13 * d) + (97 + 48) * d + 2 * d;
  CHECK(numbers_of(gpt2) == gpt2_numbers);
  CHECK(numbers_of(gpt2 + R"(, "n_ctx": 48, "n_inner": 192, "attn_pdrop": 0.1)") == gpt2_numbers);
  CHECK(numbers_of(R"("model_type": "gpt2", "vocab_size": 97, "n_ctx": 48, "hidden_size": 48, "num_attention_heads": 4,
                      "num_hidden_layers": 2, "n_inner": null, "use_cache": true)") == gpt2_numbers);
  std::int64_t const block = 4 * d * d + 3 * 80 * d + 2 * d;
  CHECK(numbers_of(llama) == 2 * block + 2 * 96 * d + d);
  CHECK(numbers_of(llama + R"(, "tie_word_embeddings": true)") == 2 * block + 96 * d + d);
  CHECK(numbers_of(llama + R"(, "num_key_value_heads": 2, "head_dim": 6, "attention_bias": true)") ==
        2 * (2 * d * 24 + 2 * d * 12 + 24 + 12 + 12 + d + 3 * 80 * d + 2 * d) + 2 * 96 * d + d);
}

TEST_CASE("functions, epsilons and deviations come from the config") {
  auto const read = [](std::string const& members) {
    redco::models::gpt2_config found;
    redco::json::json_value const config = redco::json::parse_json("{" + members + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, redco::gpt2>) found = m.config;
      return 0;
    });
    return found;
  };
  using redco::layers::activation_kind;
  redco::models::gpt2_config const
      usual = read(gpt2),
      other = read(
          gpt2 +
          R"(, "n_inner": 100, "activation_function": "relu", "layer_norm_epsilon": 1e-6, "initializer_range": 0.1)");
  CHECK((usual.ffn() == 192 && usual.norm_epsilon == 1e-5 && usual.deviation == 0.02));
  CHECK(usual.activation == activation_kind::gelu_tanh);
  CHECK((other.ffn() == 100 && other.norm_epsilon == 1e-6 && other.deviation == 0.1));
  CHECK(other.activation == activation_kind::relu);
  CHECK(read(gpt2 + R"(, "activation_function": "gelu")").activation == activation_kind::gelu);
  CHECK(read(gpt2 + R"(, "activation_function": "swish")").activation == activation_kind::silu);
}

TEST_CASE("a T5 is gated or not, and its head tied or not") {
  auto const kind = [](std::string const& more) {
    std::string const t5 =
        R"("model_type": "t5", "vocab_size": 96, "d_model": 48, "d_ff": 96, "num_heads": 4, "d_kv": 12,
                              "num_layers": 2)";
    std::string found;
    redco::json::json_value const config = redco::json::parse_json("{" + t5 + more + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&]<class M>(M const& m) {
      if constexpr (std::is_same_v<M, redco::t5>) found = "plain";
      if constexpr (std::is_same_v<M, redco::models::t5_gated>) found = "gated";
      if constexpr (requires { m.config.farthest; }) {
        if (m.config.tied) found += ", tied";
        if (m.config.activation == redco::layers::activation_kind::gelu_tanh) found += ", tanh";
      }
      return 0;
    });
    return found;
  };
  CHECK(kind("") == "plain, tied");
  CHECK(kind(R"(, "tie_word_embeddings": false)") == "plain");
  CHECK(kind(R"(, "scale_decoder_outputs": false)") == "plain");
  CHECK(kind(R"(, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false)") == "gated, tanh");
  CHECK(kind(R"(, "feed_forward_proj": "gated-silu", "is_gated_act": true, "dense_act_fn": "silu")") == "gated, tied");
  std::string const t5 =
      R"("model_type": "t5", "vocab_size": 96, "d_model": 48, "d_ff": 96, "num_heads": 4, "d_kv": 12, "num_layers": 2)";
  CHECK(refusal(t5 + R"(, "dense_act_fn": "gelu_new")").find("name two functions") != std::string::npos);
  CHECK(refusal(t5 + R"(, "tie_word_embeddings": false, "scale_decoder_outputs": true)").find("correct one of them") !=
        std::string::npos);
}

TEST_CASE("a Qwen2 has a sliding window in all of its layers or in none") {
  std::string const qwen2 =
      R"("model_type": "qwen2", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 3,
      "sliding_window": 5)";
  auto const window = [&](std::string const& more) {
    std::int64_t found = -1;
    redco::json::json_value const config = redco::json::parse_json("{" + qwen2 + more + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, redco::llama>) found = m.config.window;
      return 0;
    });
    return found;
  };
  CHECK(window("") == 0);
  CHECK(window(R"(, "use_sliding_window": true)") == 0);  // applies from the 28th layer on
  CHECK(window(R"(, "use_sliding_window": true, "max_window_layers": 0)") == 5);
  CHECK(window(R"(, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention"])") == 5);
  CHECK(refusal(qwen2 + R"(, "use_sliding_window": true, "max_window_layers": 2)").find("in some layers only") !=
        std::string::npos);
  CHECK(refusal(qwen2 + R"(, "layer_types": ["chunked"])").find("which is not supported") != std::string::npos);
}

TEST_CASE("a Qwen3 norms queries and keys in heads of 128 features unless it says otherwise") {
  std::string const qwen3 =
      R"("model_type": "qwen3", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3)";
  auto const numbers = [](std::int64_t dim, std::int64_t tables, std::int64_t biases) {
    std::int64_t const d = 48, attention = (4 + 2 + 2 + 4) * dim * d + 2 * dim + biases;
    return 3 * (attention + 3 * 80 * d + 2 * d) + tables * 96 * d + d;
  };
  CHECK(numbers_of(qwen3) == numbers(128, 2, 0));
  CHECK(numbers_of(qwen3 + R"(, "head_dim": 10, "tie_word_embeddings": true)") == numbers(10, 1, 0));
  CHECK(numbers_of(qwen3 + R"(, "head_dim": 10, "attention_bias": true)") == numbers(10, 2, (4 + 2 + 2) * 10 + 48));
  CHECK(refusal(qwen3 + R"(, "mlp_bias": true)").find("\"mlp_bias\" is true, which speaks of biases") !=
        std::string::npos);
}

TEST_CASE("sizes and options of mixtures of experts are read, and blocks without experts are refused") {
  std::string const sizes = R"("vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3, "num_experts_per_tok": 2)";
  std::string const mixtral = R"("model_type": "mixtral", "intermediate_size": 20, "num_local_experts": 5, )" + sizes,
                    qwen = R"("model_type": "qwen3_moe", "moe_intermediate_size": 20, "num_experts": 5, )" + sizes;
  auto const numbers = [](std::int64_t head, std::int64_t norms) {
    std::int64_t const d = 48, experts = 5 * 3 * 20 * d + 5 * d;
    return 3 * ((4 + 2 + 2 + 4) * head * d + norms + experts + 2 * d) + 2 * 96 * d + d;
  };
  CHECK(numbers_of(mixtral) == numbers(12, 0));
  CHECK(numbers_of(mixtral + R"(, "head_dim": 10)") == numbers(10, 0));
  CHECK(numbers_of(qwen) == numbers(12, 2 * 12));
  CHECK(numbers_of(qwen + R"(, "head_dim": 10, "intermediate_size": 70)") == numbers(10, 2 * 10));
  auto const config_of = [](std::string const& members) {
    redco::json::json_value const config = redco::json::parse_json("{" + members + "}", "c.json");
    redco::pretrained::config_reader reader(config, "c.json");
    reader.find("model_type");
    return config["model_type"] == "mixtral" ? redco::pretrained::mixtral_from_config::read(reader).config
                                             : redco::pretrained::qwen3_moe_from_config::read(reader).config;
  };
  CHECK((config_of(mixtral).normalised && !config_of(mixtral).query_key_norm && config_of(mixtral).window == 0));
  CHECK(config_of(mixtral + R"(, "sliding_window": 7)").window == 7);
  CHECK((!config_of(qwen).normalised && config_of(qwen).query_key_norm && config_of(qwen).window == 0));
  CHECK(config_of(qwen + R"(, "norm_topk_prob": true)").normalised);
  CHECK(config_of(qwen + R"(, "sliding_window": 7, "max_window_layers": 2)").window == 0);
  CHECK(config_of(qwen + R"(, "sliding_window": 7, "use_sliding_window": true)").window == 7);
  CHECK(config_of(qwen + R"(, "use_sliding_window": true)").window == 4096);
  CHECK(config_of(qwen + R"(, "sliding_window": null, "use_sliding_window": true)").window == 0);
  CHECK(numbers_of(qwen + R"(, "decoder_sparse_step": 1, "mlp_only_layers": [])") == numbers(12, 2 * 12));
  CHECK(numbers_of(qwen + R"(, "mlp_only_layers": [3])") == numbers(12, 2 * 12));
  auto const refuses = [](std::string const& members, std::string const& why) {
    INFO(members);
    CHECK(refusal(members) == "c.json: " + why);
  };
  std::string const dense = ": feed-forward layers without experts in some blocks are not supported; only ";
  refuses(qwen + R"(, "decoder_sparse_step": 2)", "\"decoder_sparse_step\" is 2" + dense + "1 is");
  refuses(qwen + R"(, "mlp_only_layers": [0])", "\"mlp_only_layers\" is [0]" + dense + "[] is");
  refuses(qwen + R"(, "mlp_only_layers": 2)", "\"mlp_only_layers\" is 2; write a list of layers");
  refuses(mixtral + R"(, "router_jitter_noise": 0.1)",
          "\"router_jitter_noise\" is 0.1, which is not supported; only 0.0 is");
  refuses(mixtral + R"(, "output_router_logits": true)",
          "\"output_router_logits\" is true, which is not supported; only false is");
  refuses(R"("model_type": "mixtral", "num_local_experts": 3, "num_experts_per_tok": 4)",
          "4 experts per token of 3 experts; correct \"num_experts_per_tok\" or \"num_local_experts\"");
  refuses(R"("model_type": "qwen3_moe", "num_experts": 3, "num_experts_per_tok": 4)",
          "4 experts per token of 3 experts; correct \"num_experts_per_tok\" or \"num_experts\"");
}

TEST_CASE("a Gemma has windows, soft caps and rotary bases as its config says") {
  std::string const sizes =
      R"("vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48, "intermediate_size": 80,
      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10, "num_hidden_layers": 7, "sliding_window": 5)";
  std::string const gemma2 = R"("model_type": "gemma2", )" + sizes, gemma3 = R"("model_type": "gemma3_text", )" + sizes;
  auto const read = [](std::string const& members) {
    redco::models::gemma_config found;
    redco::json::json_value const config = redco::json::parse_json("{" + members + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, redco::models::gemma>) found = m.config;
      return 0;
    });
    return found;
  };
  // Returns the numbers of the first seven blocks without a window.
  auto const full = [&](std::string const& members) {
    redco::models::gemma_config const found = read(members);
    CHECK(found.window == 5);
    std::vector<int> all;
    for (int i = 0; i < 7; ++i)
      if (found.full_blocks.has(i)) all.push_back(i);
    return all;
  };
  using list = std::vector<int>;
  CHECK(full(gemma2) == list{1, 3, 5});
  CHECK(full(gemma3) == list{5});
  CHECK(full(gemma3 + R"(, "sliding_window_pattern": 3)") == list{2, 5});
  std::string const types = R"(, "layer_types": ["full_attention", "full_attention", "sliding_attention",
      "sliding_attention", "full_attention", "sliding_attention", "sliding_attention"], "_sliding_window_pattern": 6)";
  CHECK(full(gemma3 + types) == list{0, 1, 4});
  CHECK(full(gemma2 + types) == list{0, 1, 4});

  redco::models::gemma_config const two =
      read(gemma2 + R"(, "query_pre_attn_scalar": 16, "final_logit_softcapping": 7.5,
      "attn_logit_softcapping": null, "pad_token_id": null, "rope_parameters": {"rope_theta": 500.0}, "tie_word_embeddings": false)");
  CHECK((two.logit_cap == 7.5 && two.score_cap == 0 && two.score_factor() == 0.25 && two.padding == -1 && !two.tied));
  CHECK((two.theta == 500 && two.local_theta == 500 && !two.query_key_norm));
  redco::models::gemma_config const plain = read(gemma3);
  CHECK((plain.logit_cap == 0 && plain.score_cap == 0 && plain.padding == 0 && plain.tied && plain.query_key_norm));
  CHECK((plain.theta == 1e6 && plain.local_theta == 1e4));
  for (std::string const bases :
       {R"("rope_theta": 300, "rope_local_base_freq": 20.0, "rope_scaling": null)",
        R"("rope_parameters": {"full_attention": {"rope_theta": 300.0, "rope_type": "default"},
                               "sliding_attention": {"rope_theta": 20.0}})"}) {
    redco::models::gemma_config const found = read(gemma3 + ", " + bases);
    CHECK((found.theta == 300 && found.local_theta == 20));
  }

  auto const refuses = [&](std::string const& members, std::string const& words) {
    std::string const why = refusal(members);
    INFO(why);
    CHECK(why.find(words) != std::string::npos);
  };
  refuses(gemma3 + R"(, "attn_logit_softcapping": 50.0)", "\"attn_logit_softcapping\" is 50.0, which is not supported");
  refuses(gemma3 + R"(, "use_bidirectional_attention": true)", "only false is");
  refuses(gemma3 + R"(, "rope_parameters": {"chunked_attention": {"rope_theta": 300.0}})", "chunked_attention");
  refuses(gemma3 + R"(, "rope_theta": 10.0, "rope_parameters": {"full_attention": {"rope_theta": 300.0}})",
          "two different \"rope_theta\"");
  refuses(gemma2 + R"(, "layer_types": ["full_attention"])", "write one type for each of 7 layers");
  refuses(gemma2 + R"(, "layer_types": [1, 2, 3, 4, 5, 6, 7])", "is 1, which is not supported");
  refuses(gemma2 + R"(, "hidden_act": "gelu")", "name two functions");
  refuses(R"("model_type": "gemma2", "head_dim": 7)", "rotary positions cannot pair");
  refuses(R"("model_type": "gemma2", "sliding_window": null)", "layer 0 has a sliding window; write its size");
  refuses(R"("model_type": "gemma2", "num_hidden_layers": 129)", "at most 128 are");
  refuses(R"("model_type": "gemma3", "text_config": {}, "vision_config": {"hidden_size": 8})",
          "\"model_type\" is \"gemma3\", a model of several parts (\"vision_config\")");
}

TEST_CASE("every second layer of a GPT-Neo has a sliding window, as its list of types says") {
  std::string const neo =
      R"("model_type": "gpt_neo", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48, "num_heads": 4,
      "num_layers": 3, "window_size": 5)";
  auto const windows = [&](std::string const& types) {
    std::pair<std::int64_t, std::int64_t> found{-1, -1};
    redco::json::json_value const config =
        redco::json::parse_json("{" + neo + R"(, "attention_types": )" + types + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, redco::gpt_neo>)
        found = {m.config.even_window, m.config.odd_window};
      return 0;
    });
    return found;
  };
  using pair = std::pair<std::int64_t, std::int64_t>;
  CHECK(windows(R"([[["global"], 3]])") == pair{0, 0});
  CHECK(windows(R"([[["local"], 3]])") == pair{5, 5});
  CHECK(windows(R"([[["global", "local"], 1], [["global"], 1]])") == pair{0, 5});
  CHECK(windows(R"([[["local"], 1], [["global", "local"], 1]])") == pair{5, 0});
  CHECK(windows(R"([[["local", "global", "local"], 1]], "attention_layers": ["local", "global", "local"])") ==
        pair{5, 0});
  std::int64_t const d = 48;
  CHECK(numbers_of(neo + R"(, "attention_types": [[["global"], 3]])") ==
        3 * (12 * d * d + 10 * d) + (96 + 128) * d + 2 * d);
  // The default is for 24 layers
  CHECK(refusal(neo).find("one type for each of 3 layers") != std::string::npos);
  for (std::string const wrong : {R"([[["global", "local"], 2]])", R"([[["global"], 2], [["local"], 1]])", R"(7)",
                                  R"([7])", R"([[["global"], -3]])", R"([[["global"], 4000000000]])",
                                  R"([[["whole"], 3]])", R"([[[], 3]])", R"([[["global"], 3, 4]])"})
    CHECK(refusal(neo + R"(, "attention_types": )" + wrong).find("the same for every second layer") !=
          std::string::npos);
  CHECK(refusal(neo + R"(, "attention_types": [[["global"], 3]], "attention_layers": ["global", "local", "global"])")
            .find("remove the wrong one") != std::string::npos);
}

TEST_CASE("a Mistral with a null window has none, and one without the key has that of the first release") {
  std::string const mistral =
      R"("model_type": "mistral", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3)";
  auto const window = [&](std::string const& more) {
    std::int64_t found = -1;
    redco::json::json_value const config = redco::json::parse_json("{" + mistral + more + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, redco::llama>) found = m.config.window;
      return 0;
    });
    return found;
  };
  CHECK(window("") == 4096);
  CHECK(window(R"(, "sliding_window": null)") == 0);
  CHECK(window(R"(, "sliding_window": 7)") == 7);
}

redco::models::llama_config llama_of(std::string const& members) {
  redco::models::llama_config found;
  redco::json::json_value const config = redco::json::parse_json("{" + members + "}", "c.json");
  redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, redco::llama>) found = m.config;
    return 0;
  });
  return found;
}

TEST_CASE("rotary positions are read with their kind, its defaults, and the context that they reach") {
  using redco::layers::rotary_kind;
  auto const read = [](std::string const& scaling) { return llama_of(llama + R"(, "rope_scaling": )" + scaling); };
  auto const linear = read(R"({"type": "linear", "factor": 4})");
  CHECK((linear.scaling.kind == rotary_kind::linear && linear.scaling.factor == 4 && linear.context == 512));
  auto const dynamic = read(R"({"rope_type": "dynamic", "type": "dynamic", "factor": 1.5})");
  CHECK((dynamic.scaling.kind == rotary_kind::dynamic && dynamic.scaling.context == 128 && dynamic.context == 192));
  auto const yarn = read(R"({"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 64})").scaling;
  CHECK((yarn.kind == rotary_kind::yarn && yarn.context == 64 && yarn.low_frequency == 1 && yarn.high_frequency == 32));
  CHECK(yarn.whole_pairs);
  CHECK(yarn.amplitude == Approx(1.138629436111989));  // 0.1 ln 4 + 1
  auto const scaled =
      read(R"({"rope_type": "yarn", "factor": 4, "mscale": 0.7, "mscale_all_dim": 0.4, "truncate": false,
                               "beta_fast": 8, "beta_slow": 0.5})")
          .scaling;
  CHECK((scaled.low_frequency == 0.5 && scaled.high_frequency == 8 && scaled.context == 128 && !scaled.whole_pairs));
  CHECK(scaled.amplitude == Approx(1.0394038191422568));  // of transformers 5.24
  CHECK(read(R"({"rope_type": "yarn", "factor": 4, "attention_factor": 1.25})").scaling.amplitude == 1.25);
  std::string const lists = R"("short_factor": [1, 1.25, 1.5, 2, 2.5, 3], "long_factor": [1.5, 2, 3, 5, 8, 13])";
  auto const longrope = read(R"({"rope_type": "longrope", "original_max_position_embeddings": 32, )" + lists + "}");
  CHECK((longrope.scaling.kind == rotary_kind::longrope && longrope.scaling.context == 32 && longrope.context == 128));
  CHECK((longrope.scaling.divisors.count == 6 && longrope.scaling.divisors.values[1] == 1.25F));
  CHECK((longrope.scaling.long_divisors.count == 6 && longrope.scaling.long_divisors.values[5] == 13));
  CHECK(longrope.scaling.amplitude == Approx(std::sqrt(1 + std::log(4.0) / std::log(32.0))));
  CHECK(refusal(llama + R"(, "original_max_position_embeddings": 16, "rope_scaling": {"rope_type": "longrope",
                              "original_max_position_embeddings": 32, )" +
                lists + "}")
            .find("two different \"original_max_position_embeddings\"") != std::string::npos);
  CHECK(refusal(llama +
                R"(, "rope_scaling": {"rope_type": "longrope", "factor": 3, "original_max_position_embeddings": 32, )" +
                lists + "}")
            .find("the context is 4.0 times the length in training") != std::string::npos);
}

TEST_CASE("a SmolLM3 does not rotate the blocks of its list or interval, and refuses windows") {
  std::string const smollm3 =
      R"("model_type": "smollm3", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_hidden_layers": 5, "pad_token_id": 0)";
  auto const unrotated = [&](std::string const& more) { return llama_of(smollm3 + more).unrotated.bits[0]; };
  CHECK(unrotated("") == 0b01000);
  CHECK(unrotated(R"(, "no_rope_layer_interval": 2)") == 0b01010);
  CHECK(unrotated(R"(, "no_rope_layers": [0, 1, 1, 0, 1])") == 0b01001);
  CHECK(refusal(smollm3 + R"(, "no_rope_layers": [0, 1, 1, 0])").find("for each of the 5 layers") != std::string::npos);
  CHECK(refusal(smollm3 + R"(, "no_rope_layers": [0, 1, 2, 0, 1])").find("write 0 or 1") != std::string::npos);
  CHECK(refusal(smollm3 + R"(, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention",
                                "sliding_attention", "sliding_attention"])")
            .find("a sliding window is not supported") != std::string::npos);
}

TEST_CASE("a Phi-3 has windows shorter than its context, longrope under older names, and no other kind") {
  std::string const phi3 = R"("model_type": "phi3", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_hidden_layers": 2, "pad_token_id": 0)";
  CHECK(llama_of(phi3).window == 0);
  CHECK(llama_of(phi3 + R"(, "sliding_window": 127)").window == 127);
  CHECK(llama_of(phi3 + R"(, "sliding_window": 128)").window == 0);
  CHECK(llama_of(phi3 + R"(, "partial_rotary_factor": 0.5)").rotary_dims == 6);
  for (std::string const name : {"longrope", "su", "yarn"}) {
    auto const read = llama_of(phi3 + R"(, "original_max_position_embeddings": 64, "rope_scaling": {"type": ")" + name +
                               R"(", "short_factor": [1, 1, 1, 1, 1, 1], "long_factor": [2, 2, 2, 2, 2, 2]})");
    CHECK((read.scaling.kind == redco::layers::rotary_kind::longrope && read.scaling.context == 64));
  }
  CHECK(refusal(phi3 + R"(, "rope_scaling": {"type": "linear", "factor": 2})")
            .find("supported are \"default\", \"longrope\"") != std::string::npos);
  CHECK(refusal(phi3 + R"(, "resid_pdrop": 0.1)").find("\"resid_pdrop\" is 0.1") != std::string::npos);
  CHECK(refusal(phi3 + R"(, "partial_rotary_factor": 0.25)").find("3 rotated features") != std::string::npos);
}

TEST_CASE("a GPT-NeoX reads its positions under old and new names, which must agree") {
  std::string const neox = R"("model_type": "gpt_neox", "vocab_size": 96, "hidden_size": 64, "intermediate_size": 80,
      "num_attention_heads": 4, "num_hidden_layers": 2)";
  auto const read = [&](std::string const& more) {
    redco::models::gpt_neox_config found;
    redco::json::json_value const config = redco::json::parse_json("{" + neox + more + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
      if constexpr (requires { m.config.parallel; }) found = m.config;
      return 0;
    });
    return found;
  };
  CHECK((read("").rotary_dims == 4 && read("").theta == 10000));
  auto const old = read(R"(, "rotary_pct": 0.5, "rotary_emb_base": 5000, "rope_theta": 5000)");
  CHECK((old.rotary_dims == 8 && old.theta == 5000));
  auto const nested =
      read(R"(, "rope_parameters": {"partial_rotary_factor": 0.75, "rope_theta": 700, "rope_type": "default"})");
  CHECK((nested.rotary_dims == 12 && nested.theta == 700));
  CHECK(refusal(neox + R"(, "rotary_pct": 0.5, "partial_rotary_factor": 0.25)").find("two different") !=
        std::string::npos);
  CHECK(refusal(neox + R"(, "rotary_emb_base": 500, "rope_parameters": {"rope_theta": 600})").find("two different") !=
        std::string::npos);
}

TEST_CASE("missing, absurd, contradictory, unknown and unsupported settings are refused with a cure") {
  auto const with = [](std::string const& more) { return refusal(gpt2 + ", " + more); };
  CHECK(refusal(R"("n_embd": 48)") == "c.json: \"model_type\" is missing; it names the family of a model");
  CHECK(refusal(R"("model_type": "gpt3")") ==
        "c.json: \"model_type\" is \"gpt3\", which is not supported; did you mean \"gpt2\"?");
  CHECK(refusal(R"("model_type": "mamba")").find("supported are gpt2, ") != std::string::npos);
  for (auto const& [family, lacks] : {std::pair{"gpt_oss", "biases of routers and experts, and the clamped activation"},
                                      {"deepseek_v2", "attention with latent keys and values"},
                                      {"deepseek_v3", "attention with latent keys and values"}})
    CHECK(refusal(std::string(R"("num_hidden_layers": 2, "model_type": ")") + family + '"')
              .starts_with(std::string(R"(c.json: "model_type" is ")") + family +
                           "\", which is not supported: redco lacks " + lacks));
  for (std::string const bad : {"-5", "0", "4611686018427387904", "18446744073709551615", "48.0", "\"48\"", "[48]"})
    CHECK(refusal(R"("model_type": "gpt2", "vocab_size": )" + bad) ==
          "c.json: \"vocab_size\" is " + bad + "; write an integer from 1 to 268435456");
  CHECK(with(R"("n_ctx": 64)") ==
        "c.json: \"n_positions\" is 48 and \"n_ctx\" is 64, but both say the same of a model; remove the "
        "wrong one");
  CHECK(with(R"("n_lyaer": 3)") == "c.json: \"n_lyaer\" is unknown; did you mean \"n_layer\"?");
  CHECK(
      with(R"("rank_of_adapter": 3)") ==
      "c.json: \"rank_of_adapter\" is 3, which speaks of adapters and is not computed here; give a model without it, or "
      "remove it if it changes nothing");
  CHECK(with(R"("num_hidden_layer": 3)").find("is 3, which speaks of sizes and is not computed here; did you mean ") !=
        std::string::npos);
  CHECK(
      with(R"("activation_function": "mish")") ==
      "c.json: \"activation_function\" is \"mish\", which is not supported; supported are gelu, gelu_python, gelu_new, "
      "gelu_pytorch_tanh, gelu_fast, quick_gelu, relu, silu, swish, tanh");
  CHECK(with(R"("embd_pdrop": 0.2)").find("this family has one dropout: make them equal") != std::string::npos);
  CHECK(with(R"("resid_pdrop": 1.5)").find("write a number from 0") != std::string::npos);
  CHECK(with(R"("n_inner": 0)").find("write an integer from 1") != std::string::npos);
  CHECK(with(R"("layer_norm_epsilon": 2)").find("write a number from") != std::string::npos);
  CHECK(with(R"("tie_word_embeddings": false)").find("only true is") != std::string::npos);
  CHECK(with(R"("architectures": ["GPT2ForSequenceClassification"])")
            .find("whose head is not computed here; GPT2LMHeadModel is") != std::string::npos);
  CHECK(refusal(
            R"("model_type": "gpt2", "vocab_size": 97, "n_positions": 48, "n_embd": 50, "n_head": 4, "n_layer": 2)") ==
        "c.json: a width of 50 is not divisible by 4 heads; correct one of them");
  CHECK(refusal(llama + R"(, "num_key_value_heads": 3)") ==
        "c.json: 4 heads are not divisible by 3 key-value heads; correct one of them");
  CHECK(refusal(llama + R"(, "head_dim": 7)").find("rotary positions cannot pair") != std::string::npos);
  CHECK(refusal(llama + R"(, "head_dim": 268435456)").find("are too many") != std::string::npos);
  CHECK(refusal(llama + R"(, "rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5})").find("two different") !=
        std::string::npos);
  for (std::string const kind : {"su", "mrope", "proportional"})
    for (std::string const key : {"rope_type", "type"})
      CHECK(refusal(llama + R"(, "rope_scaling": {")" + key + R"(": ")" + kind + R"(", "factor": 2.0})") ==
            "c.json: rope_scaling: \"rope_type\" is \"" + kind +
                "\", which is not supported; supported are \"default\", \"linear\", \"dynamic\", \"yarn\", "
                "\"longrope\", \"llama3\"");
  for (std::string const kind : {"linear", "dynamic", "yarn", "llama3"})
    CHECK(refusal(llama + R"(, "rope_parameters": {"rope_type": ")" + kind + R"("})") ==
          "c.json: rope_parameters: \"factor\" is missing, without which angles cannot be stretched; add it");
  CHECK(refusal(llama + R"(, "rope_scaling": {"rope_type": "yarn", "type": "linear", "factor": 2})")
            .find("both name the kind of positions") != std::string::npos);
  CHECK(
      refusal(llama +
              R"(, "rope_scaling": {"rope_type": "longrope", "short_factor": [1, 1], "long_factor": [2, 2, 2]})") ==
      "c.json: rope_scaling: \"short_factor\" must be a list of 6 positive numbers, one per pair of rotated features, "
      "and at most 64; correct the list");
  CHECK(refusal(llama + R"(, "partial_rotary_factor": 0.5)").find("\"partial_rotary_factor\" is 0.5") !=
        std::string::npos);
  CHECK(refusal(llama + R"(, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                                   "high_freq_factor": 4, "beta_scale": 2})")
            .find("c.json: rope_scaling: \"beta_scale\" is 2, which speaks of a factor on values") == 0);
  CHECK(refusal("") == "c.json: \"model_type\" is missing; it names the family of a model");
  CHECK_THROWS_AS(count_of(redco::json::parse_json("[1]", "c.json")), redco::error);
}

TEST_CASE("bookkeeping keys and empty values change nothing and are listed") {
  redco::json::json_value const config =
      redco::json::parse_json("{" + gpt2 + R"(, "unsloth_version": "2024.9", "_num_labels": 1,
      "id2label": {"0": "LABEL_0"}, "transformers.js_config": {"dtype": "q4"}, "output_past": true, "moe_layers": [],
      "rope_scaling": null, "use_sliding_window": false, "quantization_config": {}, "embedding_multiplier": 1.0,
      "pad_token_id": -1, "attn_implementation": "sdpa"})",
                              "c.json");
  redco::pretrained::config_reader c(config, "c.json");
  c.find("model_type");
  REQUIRE_NOTHROW(redco::pretrained::gpt2_from_config::read(c));
  std::vector<std::string> unused = c.unused();
  std::sort(unused.begin(), unused.end());
  CHECK(unused == std::vector<std::string>{"_num_labels", "attn_implementation", "embedding_multiplier", "id2label",
                                           "moe_layers", "output_past", "pad_token_id", "quantization_config",
                                           "rope_scaling", "transformers.js_config", "unsloth_version",
                                           "use_sliding_window"});
  CHECK(c.architecture() == "GPT2LMHeadModel");
}

TEST_CASE("a key that changes the computation is refused with its meaning") {
  auto const meaning = [](std::string const& more) { return refusal(llama + ", " + more); };
  auto const speaks = [&](std::string const& more, std::string const& of) {
    INFO(more);
    CHECK(meaning(more).find("which speaks of " + of + " and is not computed here") != std::string::npos);
  };
  speaks(R"("quantization_config": {"bits": 4})", "quantized weights");
  speaks(R"("compression": "int8")", "quantized weights");
  speaks(R"("rotary_pct": 0.25)", "positions");
  speaks(R"("alibi": true)", "positions");
  speaks(R"("sliding_window": 4096)", "attention to some of the tokens");
  speaks(R"("attn_type": "linear")", "attention");
  speaks(R"("is_causal": true)", "attention");
  speaks(R"("num_local_experts": 8)", "attention to some of the tokens");
  speaks(R"("n_routed_experts": 8)", "a mixture of experts");
  speaks(R"("embedding_multiplier": 12.0)", "a factor on values");
  speaks(R"("final_logit_softcapping": 30.0)", "a bound on values");
  speaks(R"("layernorm_type": "p")", "norms");
  speaks(R"("qkv_bias": true)", "attention");
  speaks(R"("hidden_activation": "gelu")", "an activation function");
  speaks(R"("hidden_dropout": 0.1)", "dropout");
  speaks(R"("use_parallel_residual": true)", "connections between layers");
  speaks(R"("lora_rank": 8)", "adapters");
  speaks(R"("vision_config": {"a": 1})", "a part of a model");
  speaks(R"("pruned": true)", "removed weights");
  speaks(R"("moe_intermediate_size": 4)", "a mixture of experts");
  speaks(R"("embed_dim": 4)", "sizes");
  CHECK(meaning(R"("hidden_dropout": 0.0)") == "accepted");
  speaks(R"("logit_scale": 2)", "a factor on values");
  CHECK(meaning(R"("logit_scale": 1)") == "accepted");
}

TEST_CASE("a ViT reads images and patches that are not square") {
  auto const vit_with = [](std::string const& more) {
    return R"("model_type": "vit", "hidden_size": 48, "intermediate_size": 96, "num_attention_heads": 4,
              "num_hidden_layers": 2)" +
           more;
  };
  std::int64_t const d = 48, block = 4 * d * d + 2 * 96 * d + 4 * d + 96 + d + 4 * d;
  auto const numbers = [&](std::int64_t tokens, std::int64_t pixels) {
    return 2 * block + (tokens + 1) * d + d + 3 * pixels * d + d + 2 * d + 2 * d + 2;
  };
  CHECK(numbers_of(vit_with(R"(, "image_size": [24, 40], "patch_size": [8, 4])")) == numbers(3 * 10, 32));
  CHECK(numbers_of(vit_with(R"(, "image_size": [24, 40], "patch_size": 8)")) == numbers(3 * 5, 64));
  CHECK(numbers_of(vit_with(R"(, "image_size": [32, 32], "patch_size": [8, 8])")) ==
        numbers_of(vit_with(R"(, "image_size": 32, "patch_size": 8)")));
  CHECK(refusal(vit_with(R"(, "image_size": [24, 42], "patch_size": [8, 4])")).find("images of 42 pixels") !=
        std::string::npos);
  for (std::string const wrong : {"[24]", "[24, 40, 3]", "[24, null]", "[24, -1]", "\"24\"", "{}"})
    CHECK(refusal(vit_with(R"(, "image_size": )" + wrong)).find("\"image_size\" is ") != std::string::npos);
}

TEST_CASE("an encoder of images and a decoder of texts are read from their own configurations") {
  std::string const vit = R"("model_type": "vit", "image_size": 32, "patch_size": 16, "hidden_size": 20,
    "intermediate_size": 36, "num_attention_heads": 2, "num_hidden_layers": 1, "batch_size": 3)";
  std::string const reads = R"(, "n_inner": 40, "is_decoder": true, "add_cross_attention": true)";
  auto const with = [](std::string const& encoder, std::string const& decoder, std::string const& more = "") {
    return R"("model_type": "vision-encoder-decoder", "is_encoder_decoder": true, "decoder_start_token_id": 1,
      "encoder": {)" +
           encoder + R"(}, "decoder": {)" + decoder + "}" + more;
  };
  std::int64_t const v = 20, d = 48;
  std::int64_t const encoder = (4 + 1) * v + v + 3 * 16 * 16 * v + v + 4 * v * v + 4 * v + 2 * 36 * v + 36 + v + 6 * v;
  std::int64_t const block = 8 * d * d + 8 * d + 2 * 40 * d + 40 + d + 6 * d;
  std::int64_t const decoder = (97 + 48) * d + 2 * block + 2 * d;
  CHECK(numbers_of(with(vit, gpt2 + reads)) == encoder + (v + 1) * d + decoder);
  CHECK(numbers_of(with(vit, gpt2 + reads, R"(, "tie_word_embeddings": false)")) == encoder + (v + 1) * d + decoder);

  redco::json::json_value const config =
      redco::json::parse_json("{" + with(vit, gpt2 + reads + R"(, "summary_type": "x")") + "}", "c.json");
  redco::pretrained::config_reader reader(config, "c.json");
  reader.find("model_type");
  auto const model = redco::pretrained::vision_encoder_decoder_from_config::read(reader);
  CHECK((model.config.decoder.ffn() == 40 && model.config.encoder.ffn == 36));
  CHECK(reader.unused() ==
        std::vector<std::string>{"decoder_start_token_id", "encoder.batch_size", "decoder.summary_type"});

  auto const refuses = [&](std::string const& members, std::string const& why) {
    INFO(why);
    std::string const found = refusal(members);
    INFO(found);
    CHECK(found.find(why) != std::string::npos);
  };
  refuses(with(vit, gpt2), "\"decoder\" does not have \"add_cross_attention\": true");
  refuses(with(R"("model_type": "deit")", gpt2 + reads),
          R"("encoder" describes a model whose "model_type" is "deit", which is not supported; only "vit" is)");
  refuses(with(vit, llama + reads), R"("decoder" describes a model whose "model_type" is "llama")");
  refuses(R"("model_type": "vision-encoder-decoder", "is_encoder_decoder": true, "decoder": {})",
          "\"encoder\" is missing");
  refuses(with(vit, gpt2 + reads + R"(, "cross_attention_hidden_size": 20)"),
          "c.json: decoder: \"cross_attention_hidden_size\" is 20, which is not supported");
  refuses(with(vit + R"(, "qk_norm": true)", gpt2 + reads), "c.json: encoder: \"qk_norm\" is true");
  refuses(with(vit, gpt2 + reads, R"(, "num_image_tokens": 4)"), "\"num_image_tokens\" is 4, which speaks of");
  refuses(with(vit, gpt2 + reads, R"(, "architectures": ["Blip"])"), "VisionEncoderDecoderModel is");
}

TEST_CASE("configurations of the reference models are understood", "[outside]") {
  auto const folder = shared_folder() / "parity";
  if (!std::filesystem::exists(folder)) return skip("no reference data in " + folder.string());
  auto const check = [&](std::string const& name, auto const& model) {
    INFO(name);
    CHECK(count_of(redco::json::read_json(folder / name / "config.json")) == numbers_in(model));
  };
  redco::llama decoder{{.vocab = 96, .context = 128, .width = 48, .ffn = 80, .heads = 4, .kv_heads = 2, .layers = 2}};
  check("gpt2-tied", redco::gpt2{{.vocab = 97, .context = 48, .width = 48, .heads = 4, .layers = 2}});
  check("llama-gqa", decoder);
  decoder.config.tied = true;
  check("llama-tied", decoder);
  check("gptj-rotary8",
        redco::gptj{{.vocab = 97, .context = 48, .width = 48, .heads = 4, .rotary_dim = 8, .layers = 2}});
  check("opt-prenorm", redco::opt{{.vocab = 97, .context = 48, .width = 48, .ffn = 96, .heads = 4, .layers = 2}});
  check("opt-postnorm",
        redco::models::opt_post_norm{
            {.vocab = 97, .context = 48, .embedding_width = 24, .width = 48, .ffn = 96, .heads = 4, .layers = 2}});
  check("t5-relu",
        redco::t5{{.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 2, .decoder_layers = 2}});
  check("t5-gated",
        redco::models::t5_gated{
            {.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 2, .decoder_layers = 2}});
  check("bart-base", redco::bart{{.vocab = 97,
                                  .context = 48,
                                  .width = 48,
                                  .ffn = 96,
                                  .decoder_ffn = 96,
                                  .heads = 4,
                                  .decoder_heads = 4,
                                  .layers = 2,
                                  .decoder_layers = 2}});
  check("bert-classify",
        redco::bert{{.vocab = 97, .context = 32, .width = 48, .ffn = 96, .heads = 4, .layers = 2, .classes = 3}});
  check("roberta-classify",  // 2 of 32 rows precede the first position
        redco::roberta{{.vocab = 97, .context = 30, .width = 48, .ffn = 96, .heads = 4, .layers = 2, .classes = 3}});
  check("vit-classify", redco::vit{{.image = 32, .width = 48, .ffn = 96, .heads = 4, .layers = 2, .classes = 10}});
}

TEST_CASE("a classifier's labels and an image's patches must agree with the rest") {
  std::string const sizes =
      R"("hidden_size": 48, "intermediate_size": 96, "num_attention_heads": 4, "num_hidden_layers": 2)";
  std::string const bert = R"("model_type": "bert", "vocab_size": 97, "max_position_embeddings": 32, )" + sizes;
  std::string const vit = R"("model_type": "vit", "image_size": 32, "patch_size": 16, )" + sizes;
  CHECK(numbers_of(bert) + 5 * 49 == numbers_of(bert + R"(, "num_labels": 7)"));
  CHECK(refusal(bert + R"(, "num_labels": 7, "id2label": {"0": "a"})") ==
        "c.json: \"id2label\" names 1 labels and \"num_labels\" says 7; correct one of them");
  CHECK(refusal(bert + R"(, "classifier_dropout": 0.3)").find("\"classifier_dropout\" is 0.3, another one than") !=
        std::string::npos);
  CHECK(refusal(bert + R"(, "pad_token_id": 97)").find("outside the vocabulary") != std::string::npos);
  CHECK(refusal(vit + R"(, "num_attention_heads": 5)").find("accepted") == std::string::npos);
  CHECK(refusal(R"("model_type": "vit", "image_size": 30, "patch_size": 16, )" + sizes).find("whole patches of 16") !=
        std::string::npos);
  CHECK(refusal(R"("model_type": "roberta", "vocab_size": 97, "max_position_embeddings": 2, )" + sizes)
            .find("leaves no row after") != std::string::npos);
}

}  // namespace from_config_test
