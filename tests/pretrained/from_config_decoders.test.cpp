#include "from_config.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Keys of the configurations of decoders.

namespace from_config_test {

TEST_CASE("a Qwen2 has a sliding window in all of its layers or in none") {
  std::string const qwen2 =
      R"("model_type": "qwen2", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 3,
      "sliding_window": 5)";
  auto const window = [&](std::string const& more) { return config_of<redco::llama>(qwen2 + more).window; };
  CHECK(window("") == 0);
  CHECK(window(R"(, "use_sliding_window": true)") == 0);  // applies from the 28th layer on
  CHECK(window(R"(, "use_sliding_window": true, "max_window_layers": 0)") == 5);
  CHECK(window(R"(, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention"])") == 5);
  CHECK(refusal(qwen2 + R"(, "use_sliding_window": true, "max_window_layers": 2)").find("in some layers only") !=
        std::string::npos);
  CHECK(refusal(qwen2 + R"(, "layer_types": ["chunked"])").find("which is not supported") != std::string::npos);
  std::string const null = R"(, "use_sliding_window": true, "max_window_layers": 0)";
  std::string const unsized = qwen2.substr(0, qwen2.rfind(','));
  CHECK(config_of<redco::llama>(unsized + R"(, "sliding_window": null)" + null).window == 0);
  CHECK(config_of<redco::llama>(unsized + null).window == 4096);
  CHECK(refusal(unsized + R"(, "sliding_window": 0, "layer_types": ["sliding_attention"])").find("has no size") !=
        std::string::npos);
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

TEST_CASE("a Mistral with a null window has none, and one without the key has that of the first release") {
  std::string const mistral =
      R"("model_type": "mistral", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3)";
  auto const window = [&](std::string const& more) { return config_of<redco::llama>(mistral + more).window; };
  CHECK(window("") == 4096);
  CHECK(window(R"(, "sliding_window": null)") == 0);
  CHECK(window(R"(, "sliding_window": 7)") == 7);
  CHECK(window(R"(, "sliding_window": 0)") == 0);
  CHECK(window(R"(, "sliding_window": false)") == 0);
  std::string const sliding = R"(, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention"])";
  CHECK(window(sliding) == 4096);
  CHECK(refusal(mistral + sliding + R"(, "sliding_window": null)").find("in 3 of 3 layers") != std::string::npos);
  CHECK(refusal(mistral + R"(, "layer_types": ["full_attention"])").find("in 0 of 3 layers") != std::string::npos);
}

TEST_CASE("a SmolLM3 does not rotate the blocks of its list or interval, and refuses windows") {
  std::string const smollm3 =
      R"("model_type": "smollm3", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
      "intermediate_size": 80, "num_attention_heads": 4, "num_hidden_layers": 5, "pad_token_id": 0)";
  auto const unrotated = [&](std::string const& more) {
    return config_of<redco::llama>(smollm3 + more).unrotated.bits[0];
  };
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
  CHECK(config_of<redco::llama>(phi3).window == 0);
  CHECK(config_of<redco::llama>(phi3 + R"(, "sliding_window": 127)").window == 127);
  CHECK(config_of<redco::llama>(phi3 + R"(, "sliding_window": 128)").window == 0);
  CHECK(config_of<redco::llama>(phi3 + R"(, "partial_rotary_factor": 0.5)").rotary_dims == 6);
  for (std::string const name : {"longrope", "su", "yarn"}) {
    auto const read =
        config_of<redco::llama>(phi3 + R"(, "original_max_position_embeddings": 64, "rope_scaling": {"type": ")" +
                                name + R"(", "short_factor": [1, 1, 1, 1, 1, 1], "long_factor": [2, 2, 2, 2, 2, 2]})");
    CHECK((read.scaling.kind == redco::layers::rotary_kind::longrope && read.scaling.context == 64));
  }
  CHECK(refusal(phi3 + R"(, "rope_scaling": {"type": "linear", "factor": 2})")
            .find("supported are \"default\", \"longrope\"") != std::string::npos);
  CHECK(refusal(phi3 + R"(, "resid_pdrop": 0.1)").find("\"resid_pdrop\" is 0.1") != std::string::npos);
  CHECK(refusal(phi3 + R"(, "partial_rotary_factor": 0.25)").find("3 rotated features") != std::string::npos);
}

TEST_CASE("a Gemma has windows, soft caps and rotary bases as its config says") {
  std::string const sizes =
      R"("vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48, "intermediate_size": 80,
      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10, "num_hidden_layers": 7, "sliding_window": 5)";
  std::string const gemma2 = R"("model_type": "gemma2", )" + sizes, gemma3 = R"("model_type": "gemma3_text", )" + sizes;
  auto const read = [](std::string const& members) { return config_of<redco::models::gemma>(members); };
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
  CHECK(full(gemma2 + R"(, "sliding_window_size": 4096)") == list{1, 3, 5});  // not read

  redco::models::gemma_config const two =
      read(gemma2 + R"(, "query_pre_attn_scalar": 16, "final_logit_softcapping": 7.5,
      "attn_logit_softcapping": null, "pad_token_id": null, "rope_parameters": {"rope_theta": 500.0}, "tie_word_embeddings": false)");
  CHECK((two.logit_cap == 7.5 && two.score_cap == 0 && two.score_factor() == 0.25 && two.padding == -1 && !two.tied));
  CHECK(read(gemma2 + R"(, "attn_logit_softcapping": 0, "final_logit_softcapping": false)").score_cap == 0);
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
    auto const found = config_of<redco::gpt_neo>(neo + R"(, "attention_types": )" + types);
    return std::pair{found.even_window, found.odd_window};
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

TEST_CASE("a GPT-NeoX reads its positions under old and new names, which must agree") {
  std::string const neox = R"("model_type": "gpt_neox", "vocab_size": 96, "hidden_size": 64, "intermediate_size": 80,
      "num_attention_heads": 4, "num_hidden_layers": 2)";
  auto const read = [&](std::string const& more) { return config_of<redco::models::gpt_neox>(neox + more); };
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
  auto const mixture_of = [](std::string const& members) { return config_of<redco::models::mixtral>(members); };
  CHECK((mixture_of(mixtral).normalised && !mixture_of(mixtral).query_key_norm && mixture_of(mixtral).window == 0));
  CHECK(mixture_of(mixtral + R"(, "sliding_window": 7)").window == 7);
  CHECK((!mixture_of(qwen).normalised && mixture_of(qwen).query_key_norm && mixture_of(qwen).window == 0));
  CHECK(mixture_of(qwen + R"(, "norm_topk_prob": true)").normalised);
  CHECK(mixture_of(qwen + R"(, "sliding_window": 7, "max_window_layers": 2)").window == 0);
  CHECK(mixture_of(qwen + R"(, "sliding_window": 7, "use_sliding_window": true)").window == 7);
  CHECK(mixture_of(qwen + R"(, "use_sliding_window": true)").window == 4096);
  CHECK(mixture_of(qwen + R"(, "sliding_window": null, "use_sliding_window": true)").window == 0);
  CHECK(numbers_of(qwen + R"(, "use_qk_norm": true, "shared_expert_intermediate_size": 0, "qkv_bias": false)") ==
        numbers(12, 2 * 12));
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
  CHECK(numbers_of(mixtral + R"(, "output_router_logits": true)") == numbers(12, 0));
  refuses(R"("model_type": "mixtral", "num_local_experts": 3, "num_experts_per_tok": 4)",
          "4 experts per token of 3 experts; correct \"num_experts_per_tok\" or \"num_local_experts\"");
  refuses(R"("model_type": "qwen3_moe", "num_experts": 3, "num_experts_per_tok": 4)",
          "4 experts per token of 3 experts; correct \"num_experts_per_tok\" or \"num_experts\"");
}

}  // namespace from_config_test
