#pragma once

#include <redco/pretrained/token_ids.hpp>

#include <redco/json/value.hpp>

#include <redco/config.hpp>

#include <string>

namespace redco::pretrained::detail {

/// Returns the token ids under a key of a JSON file. The key holds one id, a list of ids, or
/// nothing. Ignores the value -1, which means no id.
inline std::vector<std::int64_t> ids_under(json::json_value const& config, char const* key, std::string const& source) {
  std::vector<std::int64_t> ids;
  auto const add = [&](json::json_value const& value) {
    if (value == -1) return;  // LLaMA's first configurations write -1 for no id
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT32_MAX)
      throw error(exit_code::data, source + ": \"" + key + "\" is no id of a token; correct it");
    ids.push_back(value.get<std::int64_t>());
  };
  auto const at = config.find(key);
  if (at == config.end() || at->is_null()) return ids;
  if (at->is_array()) {
    for (json::json_value const& one : *at) add(one);
  } else {
    add(*at);
  }
  return ids;
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

REDCO_INLINE token_ids token_ids_of(json::json_value const& config, std::string const& source) {
  if (!config.is_object()) throw error(exit_code::data, source + " is no JSON object; fetch it again");
  auto const one = [&](char const* key) -> std::optional<std::int64_t> {
    auto const ids = detail::ids_under(config, key, source);
    return ids.empty() ? std::nullopt : std::optional(ids.front());
  };
  token_ids found;
  found.stop = detail::ids_under(config, "eos_token_id", source);
  found.padding = one("pad_token_id").value_or(found.stop.empty() ? 0 : found.stop.front());
  found.start = one("decoder_start_token_id");
  found.forced_begin = one("forced_bos_token_id").value_or(-1);
  found.forced_end = one("forced_eos_token_id").value_or(-1);
  return found;
}

}  // namespace redco::pretrained
