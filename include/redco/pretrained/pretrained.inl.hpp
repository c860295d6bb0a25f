#pragma once

#include <redco/pretrained/pretrained.hpp>

#include <redco/pretrained/folder_files.hpp>

#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/json/read.hpp>
#include <redco/json/value.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <system_error>

namespace redco {

REDCO_INLINE pretrained::pretrained(std::filesystem::path const& path) {
  std::error_code unknown;  // what cannot be looked at is told by reading it
  bool const whole = std::filesystem::is_directory(path, unknown);
  folder_ = whole ? path : path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  config_file_ = whole ? path / "config.json" : path;
  config_ = read_config(config_file_);
}

REDCO_INLINE safetensors::weights_source const& pretrained::weights() const {
  return weights_.get([&] { return safetensors::open_safetensors(folder_); });
}

REDCO_INLINE any_tokenizer const& pretrained::tokenizer() const {
  return tokenizer_.get([&] { return read_tokenizer(folder_); });
}

REDCO_INLINE std::vector<std::vector<std::int64_t>> pretrained::encoded(std::span<std::string const> texts) const {
  std::vector<std::vector<std::int64_t>> all;
  for (std::string const& text : texts) {
    std::vector<std::int64_t>& one = all.emplace_back(tokenizer().encode(text));
    auto const& stop = ids().stop;
    bool const ended = !one.empty() && std::find(stop.begin(), stop.end(), one.back()) != stop.end();
    if (!ended && !stop.empty()) one.push_back(stop.front());
  }
  return all;
}

REDCO_INLINE token_ids const& pretrained::ids() const {
  return ids_.get([&] {
    std::filesystem::path const file = generation_file();
    return token_ids_of(json::read_json(file), file.string());
  });
}

REDCO_INLINE generation_config const& pretrained::generation() const {
  return generation_.get([&] {
    std::filesystem::path const file = generation_file();
    return generation_config_of(json::read_json(file), file.string(), file != config_file_);
  });
}

REDCO_INLINE std::filesystem::path pretrained::generation_file() const {
  std::error_code unknown;
  std::filesystem::path const own = folder_ / "generation_config.json";
  return std::filesystem::exists(own, unknown) ? own : config_file_;
}

REDCO_INLINE save_model_options pretrained::save_options() const {
  save_model_options options;
  auto const there = [&](std::string_view name) {
    std::error_code unknown;
    return std::filesystem::exists(folder_ / name, unknown);
  };
  if (there("model.safetensors") || there("model.safetensors.index.json"))
    for (auto const& [name, tensor] : weights().tensors) options.types[name] = tensor.type;
  for (std::string_view const name : folder_files)
    if (there(name)) options.files[std::string(name)] = folder_ / name;
  options.files["config.json"] = config_file_;
  return options;
}

REDCO_INLINE void pretrained::refuse(std::vector<std::string> const& taken) const {
  std::string list;
  for (std::string const& one : taken) list += (list.empty() ? "" : ", ") + one;
  throw error(exit_code::data, folder_.string() + " describes a model " + config_.family +
                                   ", which this program does not run; give one of " + list);
}

}  // namespace redco
