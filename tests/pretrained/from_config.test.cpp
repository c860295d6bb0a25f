#include "from_config.hpp"
#include "shared_folder.hpp"
#include "skip.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// Keys of configurations that families share, and refusals.

namespace from_config_test {

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
  auto const read = [](std::string const& members) { return config_of<redco::gpt2>(members); };
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

TEST_CASE("rotary positions are read with their kind, its defaults, and the context that they reach") {
  using redco::layers::rotary_kind;
  auto const read = [](std::string const& scaling) {
    return config_of<redco::llama>(llama + R"(, "rope_scaling": )" + scaling);
  };
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
  for (std::string const bad : {"-5", "0", "4611686018427387904", "18446744073709551615", "48.5", "\"48\"", "[48]"})
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

TEST_CASE("a value of 0 says as little as null and false, and an integer may be written as 48.0") {
  auto const with = [](std::string const& more) { return refusal(llama + ", " + more); };
  for (std::string const nothing :
       {R"("attention_probs_dropout_prob": 0)", R"("shared_expert_intermediate_size": 0)", R"("attn_bias": 0.0)",
        R"("layer_types": ["full_attention", "full_attention"])", R"("rope_scaling": false)", R"("rope_scaling": 0)",
        R"("is_decoder": 0)", R"("pruned_heads": [])", R"("attention_bias": 0)", R"("tie_word_embeddings": 0)",
        R"("quantization_config": {"bits": 0, "modules": [], "more": {"on": false}})", R"("n_lyaer": 0)"}) {
    INFO(nothing);
    CHECK(with(nothing) == "accepted");
  }
  CHECK(with(R"("embedding_multiplier": 0)").find("a factor on values") != std::string::npos);
  CHECK(with(R"("moe_layers": [0])").find("a mixture of experts") != std::string::npos);
  CHECK(with(R"("quantization_config": {"bits": 4, "modules": []})").find("quantized") != std::string::npos);
  CHECK(with(R"("attention_bias": 2)") == "c.json: \"attention_bias\" is 2; write true or false");
  CHECK(config_of<redco::llama>(llama + R"(, "attention_bias": 1)").attention_bias);
  CHECK(with(R"("layer_types": ["full_attention", "sliding_attention"])") ==
        "c.json: \"layer_types\" has a sliding window in 1 of 2 layers, but this family computes none here; correct "
        "\"layer_types\" or \"sliding_window\"");
  CHECK(refusal(gpt2 + R"(, "layer_types": ["full_attention", "full_attention"])") == "accepted");
  CHECK(refusal(gpt2 + R"(, "layer_types": ["full_attention", "linear_attention"])") != "accepted");
  CHECK(config_of<redco::gpt2>(gpt2 + R"(, "n_ctx": 48.0, "n_inner": 1e2)").ffn() == 100);
  CHECK(with(R"("head_dim": 12.5)") == "c.json: \"head_dim\" is 12.5; write an integer from 1 to 268435456");
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

}  // namespace from_config_test
