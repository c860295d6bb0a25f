#pragma once

#include <redco/generate/token_ids.hpp>

#include <redco/json/impl/value.hpp>
#include <redco/json/read.hpp>

#include <redco/config.hpp>

#include <string>

namespace redco {

namespace detail {

/// The ids under a key: one, a list, or none.
inline std::vector<std::int64_t> ids_under(json_value const& config, char const* key, std::string const& source) {
  std::vector<std::int64_t> ids;
  auto const add = [&](json_value const& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT32_MAX)
      throw error(exit_code::data, source + ": \"" + key + "\" is no id of a token; correct it");
    ids.push_back(value.get<std::int64_t>());
  };
  auto const at = config.find(key);
  if (at == config.end() || at->is_null()) return ids;
  if (at->is_array()) {
    for (json_value const& one : *at) add(one);
  } else {
    add(*at);
  }
  return ids;
}

}  // namespace detail

REDCO_INLINE token_ids read_token_ids(std::filesystem::path const& folder) {
  token_ids found;
  for (char const* const name : {"generation_config.json", "config.json"}) {
    std::filesystem::path const file = folder / name;
    if (!std::filesystem::exists(file)) continue;
    json_value const config = read_json(file);
    if (!config.is_object()) throw error(exit_code::data, file.string() + " is no JSON object; fetch it again");
    auto const one = [&](char const* key) -> std::optional<std::int64_t> {
      auto const ids = detail::ids_under(config, key, file.string());
      return ids.empty() ? std::nullopt : std::optional(ids.front());
    };
    found.stop = detail::ids_under(config, "eos_token_id", file.string());
    found.padding = one("pad_token_id").value_or(found.stop.empty() ? 0 : found.stop.front());
    found.start = one("decoder_start_token_id");
    found.forced_end = one("forced_eos_token_id").value_or(-1);
    return found;
  }
  throw error(exit_code::data,
              folder.string() + " has neither generation_config.json nor config.json; give the folder of a model");
}

}  // namespace redco
