#pragma once

#include <redco/pretrained/from_config/bart.hpp>
#include <redco/pretrained/from_config/bert.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/gemma.hpp>
#include <redco/pretrained/from_config/gpt2.hpp>
#include <redco/pretrained/from_config/gpt_neo.hpp>
#include <redco/pretrained/from_config/gpt_neox.hpp>
#include <redco/pretrained/from_config/gptj.hpp>
#include <redco/pretrained/from_config/llama.hpp>
#include <redco/pretrained/from_config/missing_families.hpp>
#include <redco/pretrained/from_config/mixtral.hpp>
#include <redco/pretrained/from_config/olmo2.hpp>
#include <redco/pretrained/from_config/olmoe.hpp>
#include <redco/pretrained/from_config/opt.hpp>
#include <redco/pretrained/from_config/roberta.hpp>
#include <redco/pretrained/from_config/t5.hpp>
#include <redco/pretrained/from_config/vision_encoder_decoder.hpp>
#include <redco/pretrained/from_config/vit.hpp>

#include <redco/model/any_model.hpp>

#include <redco/json/value.hpp>

#include <redco/meta/nearest.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace redco::pretrained {

/// A list of model families, such as GPT-2. Each type in the list has a `name` and a function
/// `read(config_reader&)` that returns a model or a std::variant of models.
template <class... Family>
struct family_list {};

/// A list of all model families that the key model_type of a config.json can name. To add a family,
/// write a header in this folder and add its type to this list.
using config_families =
    family_list<gpt2_from_config, llama_from_config, mistral_from_config, qwen2_from_config, qwen3_from_config,
                smollm3_from_config, phi3_from_config, olmo2_from_config, olmoe_from_config, mixtral_from_config,
                qwen3_moe_from_config, gemma2_from_config, gemma3_from_config, gpt_neo_from_config, gptj_from_config,
                gpt_neox_from_config, opt_from_config, t5_from_config, bart_from_config, bert_from_config,
                roberta_from_config, vit_from_config, vision_encoder_decoder_from_config>;

}  // namespace redco::pretrained

namespace redco::pretrained::detail {

template <class M>
models::any_model as_any_model(M const& model) {
  return model;
}
template <class... M>
models::any_model as_any_model(std::variant<M...> const& one) {
  return std::visit([](auto const& model) -> models::any_model { return model; }, one);
}

/// Returns the model that a config.json describes. Throws `error` with exit code 65 if no model
/// family in the list has the name under the key model_type.
template <class... Family>
models::any_model read_family(config_reader& c, family_list<Family...>) {
  std::vector<std::string> const names{std::string(Family::name)...};
  json::json_value const* const type = c.find("model_type");
  if (type == nullptr || !type->is_string()) c.refuse("\"model_type\" is missing; it names the family of a model");
  std::string const wanted = type->get<std::string>();
  models::any_model found;
  if (((wanted == Family::name && (found = as_any_model(Family::read(c)), true)) || ...)) return found;
  for (char const* const key : {"vision_config", "audio_config", "text_config"})
    if (c.names(key))
      c.refuse(c.is("model_type", *type) + ", a model of several parts (\"" + key +
               "\"), which is not supported; give the folder of a model of texts alone");
  for (missing_family const& one : missing_families)
    if (wanted == one.name)
      c.refuse(c.is("model_type", *type) + ", which is not supported: redco lacks " + std::string(one.lacks) +
               "; give another model");
  std::string list, near = meta::nearest(wanted, names);
  for (std::string const& name : names) list += (list.empty() ? "" : ", ") + name;
  c.refuse(c.is("model_type", *type) + ", which is not supported; " +
           (near.empty() ? "supported are " + list : "did you mean \"" + near + "\"?"));
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

/// Calls `use` with the model that a config.json describes, and returns the result of `use`.
/// `source` names the file in error messages. Throws `error` with exit code 65 for keys that are
/// missing, unknown, contradictory, out of range or not supported.
template <class Use>
auto model_from_config(json::json_value const& config, std::string const& source, Use&& use) {
  config_reader c(config, source);
  return std::visit(use, detail::read_family(c, config_families{}));
}

}  // namespace redco::pretrained
