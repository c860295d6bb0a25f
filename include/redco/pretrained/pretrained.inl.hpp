#pragma once

#include <redco/pretrained/pretrained.hpp>

#include <redco/pretrained/from_config/families.hpp>
#include <redco/pretrained/named_as.hpp>
#include <redco/pretrained/weights_folder.hpp>
#include <redco/log/run_log.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/tokenizer/ended.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <redco/meta/glob.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <system_error>

namespace redco::pretrained {

REDCO_INLINE configured read_config(std::filesystem::path const& file) {
  json::json_value const config = json::read_json(file);
  config_reader c(config, file.string());
  models::any_model model = detail::read_family(c, config_families{});
  return {std::move(model), config["model_type"].get<std::string>(), c.architecture(), c.unused(), c.untrainable()};
}

}  // namespace redco::pretrained

namespace redco {

REDCO_INLINE pretrained_folder::pretrained_folder(std::filesystem::path const& path, pretrained_options options)
    : options_(std::move(options)) {
  std::error_code unknown;  // errors are ignored here, because reading the file reports them
  bool const whole = std::filesystem::is_directory(path, unknown);
  folder_ = whole ? path : path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  config_file_ = whole ? path / "config.json" : path;
  config_ = pretrained::read_config(config_file_);
  if (options_.labels.empty()) return;
  std::visit(
      [&](auto& model) {
        if constexpr (requires { model.config.classes; }) {
          model.config.classes = static_cast<std::int64_t>(options_.labels.size());
        } else {
          throw error(exit_code::usage, folder_.string() + " describes a model " + config_.family +
                                            ", which has no classes; leave the labels out");
        }
      },
      config_.model);
}

REDCO_INLINE models::stored_table pretrained_folder::table() const {
  return std::visit([](auto const& model) { return models::stored_table_of(model); }, config_.model);
}

REDCO_INLINE void pretrained_folder::check_trainable() const {
  if (!config_.untrainable.empty()) throw error(exit_code::data, config_file_.string() + ": " + config_.untrainable);
}

REDCO_INLINE std::vector<std::string> pretrained_folder::notices() const {
  std::vector<std::string> lines;
  if (!unused().empty()) lines.push_back(log::unused_text("config.json", unused()));
  std::vector<std::string> ignored = safetensors::other_weights(folder_);
  models::stored_table const names = table();
  for (std::string_view const pattern : names.unread) {
    bool const there = std::any_of(weights().tensors.begin(), weights().tensors.end(), [&](auto const& one) {
      return meta::glob(pattern, one.first) &&
             std::none_of(names.names.begin(), names.names.end(),
                          [&](auto const& row) { return meta::glob(row.theirs, one.first); });
    });
    if (there) ignored.emplace_back(pattern);
  }
  if (!ignored.empty()) lines.push_back(log::unused_text(folder_.string(), ignored));
  for (std::int64_t const id : learned_ends(false))
    lines.push_back("answers end with the token " + std::to_string(id) +
                    ", which is no special token: generation from " + folder_.string() +
                    " does not stop there; use a chat template that closes answers with an end token");
  return lines;
}

REDCO_INLINE std::vector<std::int64_t> pretrained_folder::learned_ends(bool special) const {
  std::vector<std::int64_t> found;
  for (std::int64_t const id : answer_ends_.ids()) {
    auto const& stop = ids().stop;
    bool const is_special = tokenizer().decode(std::span(&id, 1)).empty();
    if (std::find(stop.begin(), stop.end(), id) == stop.end() && is_special == special) found.push_back(id);
  }
  return found;
}

REDCO_INLINE safetensors::weights_source const& pretrained_folder::weights() const {
  return weights_.get([&] {
    safetensors::weights_source opened = pretrained::named_as(safetensors::open_safetensors(folder_), table());
    opened.fresh = options_.fresh;
    return opened;
  });
}

REDCO_INLINE tokenizer::any_tokenizer const& pretrained_folder::tokenizer() const {
  return tokenizer_.get([&] { return read_tokenizer(folder_); });
}

REDCO_INLINE std::vector<std::vector<std::int64_t>> pretrained_folder::encoded(
    std::span<std::string const> texts) const {
  std::vector<std::vector<std::int64_t>> all;
  for (std::string const& text : texts) all.push_back(tokenizer::ended(tokenizer().encode(text), ids().stop));
  return all;
}

REDCO_INLINE tokenizer::chat_template const& pretrained_folder::chat_template() const {
  return chat_template_.get([&] { return tokenizer::chat_template(folder_); });
}

REDCO_INLINE std::vector<tokenizer::marked_ids> pretrained_folder::encoded(
    std::span<data::conversation const> conversations) const {
  std::vector<tokenizer::marked_ids> all;
  auto const& begin = tokenizer().specials().begin;
  std::vector<std::int64_t> const surrounded = begin ? tokenizer().encode("a") : std::vector<std::int64_t>();
  bool const begins = !surrounded.empty() && surrounded.front() == *begin;
  auto const& stop = ids().stop;
  std::vector<tokenizer::chat_request> requests;
  for (data::conversation const& one : conversations)
    if (one.has_roles) requests.push_back({one.messages, one.first_answer, one.variables, one.where});
  auto const texts = requests.empty() ? std::vector<tokenizer::chat_text>() : chat_template().marked_texts(requests);
  auto rendered = texts.begin();
  for (data::conversation const& one : conversations) {
    if (one.has_roles) {
      auto const& [ids, trained] = all.emplace_back(marked_ids_of(tokenizer(), *rendered++));
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (trained[i] && (i + 1 == ids.size() || !trained[i + 1])) answer_ends_.add(ids[i]);
      continue;
    }
    std::string const &prompt = one.messages.front().content, whole = prompt + one.messages.back().content;
    tokenizer::marked_ids text = marked_ids_of(tokenizer(), {whole, {{prompt.size(), whole.size()}}});
    if (begins && (text.ids.empty() || text.ids.front() != *begin)) {
      text.ids.insert(text.ids.begin(), *begin);
      text.trained.insert(text.trained.begin(), false);
    }
    all.push_back(tokenizer::ended(std::move(text), stop));
  }
  return all;
}

REDCO_INLINE pretrained::token_ids const& pretrained_folder::ids() const {
  return ids_.get([&] {
    std::filesystem::path const file = generation_file();
    return pretrained::token_ids_of(json::read_json(file), file.string());
  });
}

REDCO_INLINE pretrained::generation_config const& pretrained_folder::generation() const {
  return generation_.get([&] {
    std::filesystem::path const file = generation_file();
    return pretrained::generation_config_of(json::read_json(file), file.string(), file != config_file_);
  });
}

REDCO_INLINE std::filesystem::path pretrained_folder::generation_file() const {
  std::error_code unknown;
  std::filesystem::path const own = folder_ / "generation_config.json";
  return std::filesystem::exists(own, unknown) ? own : config_file_;
}

REDCO_INLINE save_model_options pretrained_folder::save_options() const {
  save_model_options options;
  auto const there = [&](std::string_view name) {
    std::error_code unknown;
    return std::filesystem::exists(folder_ / name, unknown);
  };
  if (there("model.safetensors") || there("model.safetensors.index.json"))
    for (auto const& [name, tensor] : weights().tensors) options.types[name] = tensor.type;
  for (std::string_view const name : pretrained::folder_files)
    if (there(name)) options.files[std::string(name)] = folder_ / name;
  options.files["config.json"] = config_file_;
  if (std::optional<std::string> text = config_text()) {
    options.files.erase("config.json");
    options.texts["config.json"] = std::move(*text);
  }
  if (std::optional<std::string> text = generation_text()) {
    options.files.erase("generation_config.json");
    options.texts["generation_config.json"] = std::move(*text);
  }
  return options;
}

REDCO_INLINE std::optional<std::string> pretrained_folder::generation_text() const {
  std::vector<std::int64_t> const learned = learned_ends(true);
  if (learned.empty()) return {};
  std::filesystem::path const file = generation_file();
  json::json_value config = json::read_json(file);
  if (file == config_file_) {
    json::json_value own = json::json_value::object();
    for (char const* const key : {"bos_token_id", "pad_token_id", "decoder_start_token_id"})
      if (auto const found = config.find(key); found != config.end()) own[key] = *found;
    config = std::move(own);
  }
  json::json_value& stop = config["eos_token_id"] = ids().stop;
  for (std::int64_t const id : learned) stop.push_back(id);
  return json::dump_json(config, 2) + "\n";
}

REDCO_INLINE std::optional<std::string> pretrained_folder::config_text() const {
  json::json_value config = json::read_json(config_file_);
  json::json_value const wanted = json::json_value::array({config_.architecture});
  bool const same_head =
      options_.fresh.empty() || !config.contains("architectures") || config["architectures"] == wanted;
  if (same_head && options_.labels.empty()) return {};
  if (!same_head) config["architectures"] = wanted;
  if (!options_.labels.empty()) {
    json::json_value names = json::json_value::object(), ids = json::json_value::object();
    for (std::size_t i = 0; i < options_.labels.size(); ++i) {
      names[std::to_string(i)] = options_.labels[i];
      ids[options_.labels[i]] = i;
    }
    config.erase("num_labels");
    config.erase("_num_labels");
    config["id2label"] = std::move(names);
    config["label2id"] = std::move(ids);
  }
  return json::dump_json(config, 2) + "\n";
}

REDCO_INLINE void pretrained_folder::refuse(std::vector<std::string> const& taken) const {
  std::string list;
  for (std::string const& one : taken) list += (list.empty() ? "" : ", ") + one;
  throw error(exit_code::data, folder_.string() + " describes a model " + config_.family +
                                   ", which this program does not run; give one of " + list);
}

}  // namespace redco
