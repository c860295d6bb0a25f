#pragma once

#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// Ids with which a model's generation begins and ends.
struct token_ids {
  std::vector<std::int64_t> stop = {};     ///< end a text
  std::int64_t padding = 0;                ///< of right-padded rows; the first of `stop` where none is named
  std::optional<std::int64_t> start = {};  ///< begins the decoder of an encoder-decoder
  std::int64_t forced_begin = -1;          ///< the first id behind `start`; -1: any
  std::int64_t forced_end = -1;            ///< the last id of a text that is cut off; -1: none
};

/// What a generation_config.json says, or a config.json with such keys. Errors: exit code 65 for what is no id, naming
/// `source` and the key.
token_ids token_ids_of(json::json_value const& config, std::string const& source);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/token_ids.inl.hpp>
#endif
