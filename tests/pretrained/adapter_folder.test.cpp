#include "catch.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"

#include <redco/pretrained/adapted_path.hpp>
#include <redco/pretrained/adapter_config_text.hpp>
#include <redco/pretrained/adapter_folder.hpp>
#include <redco/pretrained/adapter_place.hpp>
#include <redco/pretrained/stored_names/gpt2.hpp>
#include <redco/pretrained/stored_names/llama.hpp>
#include <redco/pretrained/stored_names/t5.hpp>
#include <redco/pretrained/usual_targets.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace adapter_folder_test {

using namespace redco;
using numbers = std::vector<std::int64_t>;

std::span<stored_name const> const of_llama = stored_names<llama>::names, of_gpt2 = stored_names<gpt2>::names;

adapter_place place_of(std::span<stored_name const> names, std::string const& ours, numbers const& shape) {
  return adapter_place_of(names, ours, shape, safetensors::whole(shape));
}

/// A folder with this config and tensors of these names, each of one number.
void write(temporary_folder const& folder, std::string const& config, std::vector<std::string> const& names) {
  std::ofstream(folder / "adapter_config.json") << config;
  std::vector<safetensors::safetensors_entry> entries;
  for (std::string const& name : names) entries.push_back({name, safetensors::file_dtype::f32, {1, 1}});
  std::ofstream file(folder / "adapter_model.safetensors", std::ios::binary);
  file << safetensors::plan_safetensors(entries).header << std::string(4 * names.size(), '\0');
}

TEST_CASE("halves of adapters have PEFT's names and modules; those of a fused weight are one module's") {
  adapter_place const q = place_of(of_llama, "layers.3.self_attn.q.lora_A.weight", {4, 9});
  CHECK(q.part.name == "base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight");
  CHECK(q.part.shape == numbers{4, 9});
  CHECK(q.module == "self_attn.q_proj");
  CHECK_FALSE(q.transposed);
  CHECK(place_of(of_llama, "lm_head.lora_B.weight", {9, 4}).module == "lm_head");

  adapter_place const a = place_of(of_gpt2, "h.11.attn.qkv.lora_A.weight", {4, 9});
  CHECK(a.part.name == "base_model.model.transformer.h.11.attn.c_attn.lora_A.weight");
  CHECK(a.part.shape == numbers{4, 9});
  CHECK((a.module == "attn.c_attn" && a.transposed));
  adapter_place const v = adapter_place_of(of_gpt2, "h.11.attn.v.lora_B.weight", {8, 4}, {{2, 0}, {4, 4}});
  CHECK(v.part.name == "base_model.model.transformer.h.11.attn.c_attn.lora_B.weight");
  CHECK(v.part.shape == numbers{24, 4});
  CHECK(v.part.place == safetensors::box{{18, 0}, {4, 4}});
  CHECK_FALSE(v.part.transposed);
  CHECK(place_of(of_gpt2, "h.0.mlp.down.lora_B.weight", {8, 4}).part.shape == numbers{8, 4});

  CHECK(place_of({}, "body.up.lora_A.weight", {2, 3}).part.name == "base_model.model.body.up.lora_A.weight");
  CHECK(place_of({}, "body.up.lora_A.weight", {2, 3}).module == "body.up");
  CHECK(refused([] { place_of(of_llama, "layers.0.other.lora_A.weight", {2, 3}); }).starts_with("70 "));
  CHECK(adapted_path("h.0.attn.q.lora_B.weight") == "h.0.attn.q");
  CHECK(adapted_path("h.0.attn.q.weight").empty());
}

TEST_CASE("what is adapted where nobody says is what PEFT adapts") {
  CHECK(usual_targets(of_llama) == "q,v");
  CHECK(usual_targets(stored_names<t5>::names) == "q,v");
  CHECK(usual_targets(of_gpt2) == "qkv");
}

TEST_CASE("adapter_config.json says what PEFT needs, and is read again") {
  std::vector<adapter_place> const places{place_of(of_gpt2, "h.0.attn.qkv.lora_A.weight", {4, 9}),
                                          place_of(of_gpt2, "h.1.attn.qkv.lora_A.weight", {4, 9}),
                                          place_of(of_gpt2, "h.1.mlp.up.lora_A.weight", {4, 9})};
  lora_options const options{.rank = 4, .alpha = 6.5, .dropout = 0.25, .targets = "attn.qkv,mlp.up"};
  std::string const text = adapter_config_text(options, places, {.base = "gpt2"});
  json::json_value const config = json::parse_json(text, "adapter_config.json");
  CHECK(config["peft_type"] == "LORA");
  CHECK(config["task_type"] == "CAUSAL_LM");
  CHECK(config["base_model_name_or_path"] == "gpt2");
  CHECK((config["r"] == 4 && config["lora_alpha"] == 6.5 && config["lora_dropout"] == 0.25));
  CHECK(config["target_modules"] == json::json_value({"attn.c_attn", "mlp.c_fc"}));
  CHECK((config["fan_in_fan_out"] == true && config["bias"] == "none"));
  CHECK(json::parse_json(adapter_config_text({.alpha = 16}, {}, {.task = "SEQ_2_SEQ_LM"}), "")["lora_alpha"]
            .is_number_integer());

  temporary_folder const folder;
  write(folder, text, {places[0].part.name, places[1].part.name, places[2].part.name});
  CHECK(adapter_folder(folder.path).options(of_gpt2) == options);
}

TEST_CASE("a LoRA that PEFT scales by the root of its rank; what is not computed here is refused by its key with 65") {
  temporary_folder const folder;
  auto const read = [&](std::string const& more, std::string const& tensor = "model.layers.0.self_attn.o_proj") {
    write(folder, R"({"peft_type": "LORA", "r": 4, "lora_alpha": 3, "use_dora": false, "new_key": null)" + more + "}",
          {"base_model.model." + tensor + ".lora_A.weight"});
    return adapter_folder(folder.path).options(of_llama);
  };
  CHECK(read("") == lora_options{.rank = 4, .alpha = 3, .targets = "self_attn.o"});
  CHECK(read(R"(, "use_rslora": true)").alpha == Approx(6));
  CHECK(refused([&] { read(R"(, "use_dora": true)"); }).find("use_dora") != std::string::npos);
  CHECK(refused([&] { read(R"(, "bias": "all")"); }).find("\"bias\" is \"all\"") != std::string::npos);
  CHECK(refused([&] { read(R"(, "rank_pattern": {"q": 2})"); }).find("rank_pattern") != std::string::npos);
  CHECK(refused([&] { read(R"(, "modules_to_save": ["lm_head"])"); }).starts_with("65 "));
  CHECK(refused([&] { read("", "model.layers.0.self_attn.other"); }).starts_with("65 "));
  CHECK(refused([&] { adapter_folder(folder / "nothing"); }).starts_with("65 "));
  std::ofstream(folder / "adapter_config.json") << R"({"peft_type": "IA3", "r": 4})";
  CHECK(refused([&] { adapter_folder{folder.path}; }).find("peft_type") != std::string::npos);
}

}  // namespace adapter_folder_test
