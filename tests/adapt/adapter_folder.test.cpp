#include "catch.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"

#include <redco/pretrained/any_stored_names.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/pretrained/stored_names/llama.hpp>
#include <redco/pretrained/stored_names/t5.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/adapter_location.hpp>
#include <redco/adapt/plan/target_words.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace adapter_folder_test {

using namespace redco;
using numbers = std::vector<std::int64_t>;

std::span<redco::models::stored_name const> const of_llama = redco::models::stored_names<llama>::names,
                                                  of_gpt2 = redco::models::stored_names<gpt2>::names;

redco::adapt::adapter_location location_of(std::span<redco::models::stored_name const> names, std::string const& ours,
                                           numbers const& shape) {
  return redco::adapt::adapter_location_of(names, ours, shape, safetensors::whole(shape));
}

/// Writes a folder with this config and tensors of these names, each of shape [4, 1].
void write(temporary_folder const& folder, std::string const& config, std::vector<std::string> const& names) {
  std::ofstream(folder / "adapter_config.json") << config;
  std::vector<safetensors::safetensors_entry> entries;
  for (std::string const& name : names) entries.push_back({name, safetensors::file_dtype::f32, {4, 1}});
  std::ofstream file(folder / "adapter_model.safetensors", std::ios::binary);
  file << safetensors::plan_safetensors(entries).header << std::string(16 * names.size(), '\0');
}

/// Returns a table with tensors of these names.
safetensors::tensor_table table_of(std::vector<std::string> const& names) {
  safetensors::tensor_table table;
  for (std::string const& name : names) table[name] = {safetensors::file_dtype::f32, {4, 1}, {}};
  return table;
}

TEST_CASE("adapter matrices have PEFT's names and modules; the matrices of a fused weight share one module") {
  redco::adapt::adapter_location const q = location_of(of_llama, "layers.3.self_attn.q.lora_A.weight", {4, 9});
  CHECK(q.part.name == "base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight");
  CHECK(q.part.shape == numbers{4, 9});
  CHECK(q.module == "self_attn.q_proj");
  CHECK_FALSE(q.transposed);
  CHECK(location_of(of_llama, "lm_head.lora_B.weight", {9, 4}).module == "lm_head");

  redco::adapt::adapter_location const a = location_of(of_gpt2, "h.11.attn.qkv.lora_A.weight", {4, 9});
  CHECK(a.part.name == "base_model.model.transformer.h.11.attn.c_attn.lora_A.weight");
  CHECK(a.part.shape == numbers{4, 9});
  CHECK((a.module == "attn.c_attn" && a.transposed));
  redco::adapt::adapter_location const v =
      redco::adapt::adapter_location_of(of_gpt2, "h.11.attn.v.lora_B.weight", {8, 4}, {{2, 0}, {4, 4}});
  CHECK(v.part.name == "base_model.model.transformer.h.11.attn.c_attn.lora_B.weight");
  CHECK(v.part.shape == numbers{24, 4});
  CHECK(v.part.box == safetensors::box{{18, 0}, {4, 4}});
  CHECK_FALSE(v.part.transposed);
  CHECK(location_of(of_gpt2, "h.0.mlp.down.lora_B.weight", {8, 4}).part.shape == numbers{8, 4});

  redco::adapt::adapter_location const w3 = location_of(redco::models::stored_names<redco::models::mixtral>::names,
                                                        "layers.1.mlp.experts.up.3.lora_B.weight", {9, 4});
  CHECK(w3.part.name == "base_model.model.model.layers.1.block_sparse_moe.experts.3.w3.lora_B.weight");
  CHECK((w3.part.shape == numbers{9, 4} && w3.module == "w3"));

  CHECK(location_of({}, "body.up.lora_A.weight", {2, 3}).part.name == "base_model.model.body.up.lora_A.weight");
  CHECK(location_of({}, "body.up.lora_A.weight", {2, 3}).module == "body.up");
  CHECK(refused([] { location_of(of_llama, "layers.0.other.lora_A.weight", {2, 3}); }).starts_with("70 "));
  CHECK(redco::adapt::adapted_path("h.0.attn.q.lora_B.weight") == "h.0.attn.q");
  CHECK(redco::adapt::adapted_path("h.0.attn.q.weight").empty());
}

TEST_CASE("adapters of joined weights follow the sizes or the heads of the joined tensor, or are refused by name") {
  auto const of_phi3 = redco::models::stored_names_of(
      llama{{.width = 32, .ffn = 40, .heads = 4, .kv_heads = 2, .layers = 1, .fused_in_files = true}});
  redco::adapt::adapter_location const v =
      redco::adapt::adapter_location_of(of_phi3, "layers.0.self_attn.v.lora_B.weight", {16, 4}, {{8, 0}, {8, 4}});
  CHECK(v.part.name == "base_model.model.model.layers.0.self_attn.qkv_proj.lora_B.weight");
  CHECK(v.part.shape == numbers{64, 4});
  CHECK(v.part.box == safetensors::box{{56, 0}, {8, 4}});
  CHECK(redco::adapt::group_of(of_phi3, "layers.0.self_attn.v.lora_B.weight") == 0);
  CHECK(refused([&] {
          location_of(of_phi3, "layers.0.mlp.up.lora_B.weight", {40, 4});
        }) ==
        "64 the files of this model keep layers.0.mlp.up and another weight as one tensor, which PEFT adapts as one: "
        "leave it out of the targets");
  CHECK(redco::adapt::usual_targets(of_phi3) == "qkv");

  auto const of_neox = redco::models::stored_names_of(redco::models::gpt_neox{{.width = 32, .heads = 4, .layers = 1}});
  CHECK(redco::adapt::group_of(of_neox, "layers.0.attention.k.lora_B.weight") == 8);
  CHECK(redco::adapt::group_of(of_neox, "layers.0.attention.qkv.lora_A.weight") == 0);
  redco::adapt::adapter_location const k =
      redco::adapt::adapter_location_of(of_neox, "layers.0.attention.k.lora_B.weight", {32, 4}, {{16, 0}, {8, 4}});
  CHECK(k.part.name == "base_model.model.gpt_neox.layers.0.attention.query_key_value.lora_B.weight");
  CHECK(k.part.shape == numbers{96, 4});
  // Head 2 of k follows 2 * 3 + 1 groups of 8 rows.
  CHECK(k.part.box == safetensors::box{{56, 0}, {8, 4}});
}

TEST_CASE("adapters have PEFT's target layers by default") {
  CHECK(redco::adapt::usual_targets(of_llama) == "q,v");
  CHECK(redco::adapt::usual_targets(redco::models::stored_names<t5>::names) == "q,v");
  CHECK(redco::adapt::usual_targets(of_gpt2) == "qkv");
}

TEST_CASE("targets may be PEFT's names of modules, or all-linear, in every family of decoders") {
  auto const targets = [](auto const& model, std::string const& words) {
    return redco::adapt::targets_of(words, redco::adapt::adaptable_weights(model),
                                    redco::models::stored_names_of(model));
  };
  llama const plain{{.width = 32, .ffn = 40, .heads = 4, .kv_heads = 2, .layers = 2}};
  llama const phi3{{.width = 32, .ffn = 40, .heads = 4, .kv_heads = 2, .layers = 2, .fused_in_files = true}};
  CHECK(targets(plain, "q_proj,v_proj") == "q,v");
  CHECK(targets(plain, "q,self_attn.v,down_proj") == "q,self_attn.v,down");
  CHECK(targets(plain, "all-linear") == "down,gate,k,o,q,up,v");
  CHECK(targets(plain, "self_attn.q_proj,mlp.up_proj") == "q,up");
  CHECK(targets(phi3, "qkv_proj,o_proj") == "o,qkv");
  CHECK(targets(gpt2{}, "c_attn") == "qkv");
  CHECK(targets(gpt2{}, "c_proj") == "down,o");
  CHECK(targets(gpt2{}, "mlp.c_proj,c_fc") == "down,up");
  CHECK(targets(gpt2{}, "all-linear") == "down,o,qkv,up");
  CHECK(targets(redco::models::gpt_neox{}, "query_key_value,dense_h_to_4h") == "qkv,up");
  CHECK(targets(redco::models::gpt_neox{}, "all-linear") == "down,o,qkv,up");
  CHECK(targets(redco::models::mixtral{}, "w1,w2,q_proj") == "down,gate,q");
  CHECK(targets(redco::models::mixtral{}, "all-linear") == "down,gate,k,o,q,up,v");
  for (std::string const words : {"q_proj,k_proj,v_proj,out_proj,c_fc,c_proj", "all-linear"})
    CHECK(targets(gpt_neo{}, words) == "down,k,o,q,up,v");
  for (std::string const words : {"q_proj,k_proj,v_proj,out_proj,fc_in,fc_out", "all-linear"})
    CHECK(targets(gptj{}, words) == "fc_in,fc_out,k,o,q,v");
  for (std::string const words : {"q_proj,k_proj,v_proj,out_proj,fc1,fc2", "all-linear"})
    CHECK(targets(opt{}, words) == "fc1,fc2,k,o,q,v");
  CHECK(targets(redco::models::gemma{}, "all-linear") == "down,gate,k,o,q,up,v");
  CHECK(targets(redco::models::olmo2{}, "all-linear") == "down,gate,k,o,q,up,v");
  CHECK(targets(redco::models::olmoe{}, "all-linear") == "down,gate,k,o,q,up,v");

  CHECK(refused([&] { targets(plain, "q,c_attn"); }) ==
        "64 no weight 'c_attn' takes an adapter; name q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, "
        "or all-linear");
  CHECK(refused([&] {
          targets(phi3, "all-linear");
        }).starts_with("64 the target 'all-linear' adapts model.layers.*.mlp.gate_up_proj, in which files join two"));
}

TEST_CASE("adapter_config.json has the keys that PEFT needs and is read back unchanged") {
  std::vector<redco::adapt::adapter_location> const locations{
      location_of(of_gpt2, "h.0.attn.qkv.lora_A.weight", {4, 9}),
      location_of(of_gpt2, "h.1.attn.qkv.lora_A.weight", {4, 9}),
      location_of(of_gpt2, "h.1.mlp.up.lora_A.weight", {4, 9})};
  lora_options const options{.rank = 4, .alpha = 6.5, .dropout = 0.25, .targets = "qkv,up"};
  std::string const text = adapter_config_text(options, locations, {.base = "gpt2"});
  json::json_value const config = json::parse_json(text, "adapter_config.json");
  CHECK(config["peft_type"] == "LORA");
  CHECK(config["task_type"] == "CAUSAL_LM");
  CHECK(config["base_model_name_or_path"] == "gpt2");
  CHECK((config["r"] == 4 && config["lora_alpha"] == 6.5 && config["lora_dropout"] == 0.25));
  CHECK(config["target_modules"] == json::json_value({"attn.c_attn", "mlp.c_fc"}));
  CHECK((config["fan_in_fan_out"] == true && config["bias"] == "none"));
  CHECK(
      json::parse_json(redco::adapt::adapter_config_text({.alpha = 16}, {}, {.task = "SEQ_2_SEQ_LM"}), "")["lora_alpha"]
          .is_number_integer());

  temporary_folder const folder;
  write(folder, text, {locations[0].part.name, locations[1].part.name, locations[2].part.name});
  CHECK(adapter_folder(folder.path).options(of_gpt2) == options);
}

TEST_CASE("a rank-stabilized LoRA is read; settings that redco does not compute are refused by their key") {
  temporary_folder const folder;
  auto const read = [&](std::string const& more,
                        std::string const& tensor = "model.layers.0.self_attn.o_proj.lora_A.weight") {
    write(folder, R"({"peft_type": "LORA", "r": 4, "lora_alpha": 3, "use_qalora": false, "new_key": null)" + more + "}",
          {"base_model.model." + tensor});
    return adapter_folder(folder.path).options(of_llama);
  };
  CHECK(read("") == lora_options{.rank = 4, .alpha = 3, .targets = "o"});
  CHECK(read(R"(, "use_rslora": true)").alpha == Approx(6));
  CHECK(refused([&] { read(R"(, "bias": "all")"); }).find("\"bias\" is \"all\"") != std::string::npos);
  // Each of these options changes PEFT 0.21's logits. Merging the adapter avoids the refusal, as
  // the message says.
  std::vector<std::string> const options{R"("use_dora": true)",
                                         R"("rank_pattern": {"q_proj": 2})",
                                         R"("alpha_pattern": {"q_proj": 2})",
                                         R"("modules_to_save": ["lm_head"])",
                                         R"("layers_to_transform": [0, 2])",
                                         R"("layers_to_transform": 0)",
                                         R"("alora_invocation_tokens": [5])",
                                         R"("lora_bias": true)",
                                         R"("trainable_token_indices": [3])",
                                         R"("target_parameters": ["w"])",
                                         R"("layer_replication": [[0, 2], [1, 3]])"};
  for (std::string const& option : options) {
    INFO(option);
    std::string const message = refused([&] { read(", " + option); });
    CHECK(message.starts_with("65 "));
    CHECK(message.find(option.substr(0, option.find(':')) + " is ") != std::string::npos);
    CHECK(message.find("merge_and_unload") != std::string::npos);
  }
  CHECK(refused([&] { read(R"(, "kasa_config": {"beta": 1})"); }).find("\"kasa_config\" is unknown") !=
        std::string::npos);
  CHECK(refused([&] { read("", "model.layers.0.self_attn.other.lora_A.weight"); }).starts_with("65 "));
  CHECK(refused([&] { adapter_folder(folder / "nothing"); }).starts_with("65 "));
  std::ofstream(folder / "adapter_config.json") << R"({"peft_type": "IA3", "r": 4})";
  CHECK(refused([&] { adapter_folder{folder.path}; }).find("\"peft_type\" is \"IA3\"") != std::string::npos);
}

TEST_CASE("initialisations to the base weights plus B A are read; other initialisations are refused by name") {
  temporary_folder const folder;
  auto const read = [&](std::string const& how) {
    write(folder, R"({"peft_type": "LORA", "r": 4, "lora_alpha": 3, "init_lora_weights": )" + how + "}",
          {"base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight"});
    return refused([&] { adapter_folder(folder.path).options(of_llama); });
  };
  // Measured by tests/parity/adapter_starts.py: the accepted options differ from base + B A by at
  // most 5e-7 of the largest logit, OLoRA by 0.38, PiSSA by 0.40.
  for (char const* how : {"true", "false", "null", R"("gaussian")", R"("eva")", R"("orthogonal")"})
    CHECK(read(how).empty());
  for (std::string const how : {"pissa", "pissa_niter_4", "olora", "corda", "loftq", "lora_ga", "mica", "other"}) {
    std::string const message = read("\"" + how + "\"");
    CHECK(message.find("\"init_lora_weights\" is \"" + how + "\"") != std::string::npos);
    CHECK(message.find("path_initial_model_for_weight_conversion") != std::string::npos);
  }
}

TEST_CASE("a tensor of an adapter file that is not plain LoRA is refused with its kind") {
  temporary_folder const folder;
  std::string const in = "base_model.model.model.layers.0.self_attn.q_proj.", a = in + "lora_A.weight";
  auto const read = [&](std::string const& more, int rank = 4) {
    write(folder, R"({"peft_type": "LORA", "r": )" + std::to_string(rank) + "}", {a, more});
    return refused([&] { adapter_folder(folder.path).options(of_llama); });
  };
  CHECK(read(in + "lora_B.weight").empty());
  CHECK(read(in + "lora_magnitude_vector").find("use_dora") != std::string::npos);
  CHECK(read(in + "lora_B.bias").find("lora_bias") != std::string::npos);
  CHECK(read("base_model.model.model.embed_tokens.lora_embedding_A").find("adapter of an embedding") !=
        std::string::npos);
  CHECK(read("base_model.model.lm_head.weight").find("modules_to_save") != std::string::npos);
  CHECK(read(in + "lora_B.weight", 2).find("of shape [4, 1], but \"r\" is 2") != std::string::npos);
  std::filesystem::remove(folder / "adapter_model.safetensors");
  std::ofstream(folder / "adapter_model.bin") << "pickle";
  CHECK(refused([&] { adapter_folder{folder.path}; }).find("safe_serialization=True") != std::string::npos);
}

TEST_CASE("targets are the shortest path endings that name exactly the modules in the file") {
  temporary_folder const folder;
  auto const targets = [&](std::vector<std::string> names) {
    for (std::string& name : names) name = "base_model.model." + name + ".lora_A.weight";
    write(folder, R"({"peft_type": "LORA", "r": 4})", names);
    return std::string(adapter_folder(folder.path).options(redco::models::stored_names<t5>::names).targets.view());
  };
  std::string const encoder = "encoder.block.0.layer.0.SelfAttention.",
                    decoder = "decoder.block.0.layer.0.SelfAttention.",
                    cross = "decoder.block.0.layer.1.EncDecAttention.";
  CHECK(targets({encoder + "q"}) == "encoder.block.*.SelfAttention.q");
  CHECK(targets({encoder + "q", decoder + "q"}) == "SelfAttention.q");
  CHECK(targets({encoder + "q", decoder + "q", cross + "q"}) == "q");
  CHECK(targets({cross + "v", "lm_head"}) == "EncDecAttention.v,lm_head");
}

TEST_CASE("a module that a file adapts in only some blocks is refused with a block that lacks it") {
  std::string const in = "base_model.model.model.layers.", q = ".self_attn.q_proj.lora_A.weight";
  std::vector<std::string> const wanted{in + "0" + q, in + "1" + q, in + "10" + q};
  auto const check = [&](std::vector<std::string> const& stored) {
    return refused([&] { redco::adapt::check_adapted_blocks("my-lora", table_of(stored), wanted); });
  };
  CHECK(check(wanted).empty());
  CHECK(check({"other"}).empty());  // load_model refuses a module that no block adapts
  std::string const message = check({wanted[0], wanted[2]});
  CHECK(message.starts_with("65 my-lora adapts some blocks only (layers_to_transform"));
  CHECK(message.find(wanted[1]) != std::string::npos);
}

}  // namespace adapter_folder_test
