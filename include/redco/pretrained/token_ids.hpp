#pragma once

#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// Token ids that begin, end and pad the texts of a model.
struct token_ids {
  std::vector<std::int64_t> stop = {};  ///< ids that end a text
  std::int64_t padding = 0;             ///< id that right-pads rows; by default the first of `stop`
  /// Id that begins the decoder input of an encoder-decoder
  std::optional<std::int64_t> start = {};
  std::int64_t forced_begin = -1;  ///< id forced as the first one after `start`; -1 forces none
  /// Id forced as the last one of a text at its maximum length; -1 forces none
  std::int64_t forced_end = -1;
};

/// Returns the ids in a generation_config.json or config.json. Throws `error` with exit code 65 for
/// a value that is no id; the message names `source` and the key.
token_ids token_ids_of(json::json_value const& config, std::string const& source);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/token_ids.inl.hpp>
#endif
