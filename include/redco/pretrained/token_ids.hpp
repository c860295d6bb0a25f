#pragma once

#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::pretrained {

/// A set of ids of the tokens that begin, end and pad the texts of a model.
struct token_ids {
  /// Ids of the tokens that end a text; generation stops there.
  std::vector<std::int64_t> stop = {};
  /// Id that fills short rows at the right. If the file has none, the first id of `stop`.
  std::int64_t padding = 0;
  /// Id of the token that begins the decoder's input of an encoder-decoder model.
  std::optional<std::int64_t> start = {};
  std::int64_t forced_begin = -1;  ///< Id forced as the first token after `start`; -1 forces none
  /// Id forced as the last token of a text that reaches its maximum length; -1 forces none.
  std::int64_t forced_end = -1;
};

/// Returns the token ids that a generation_config.json or config.json names. Throws `error` with
/// exit code 65 for a value that is no id; the message has `source` and the key.
token_ids token_ids_of(json::json_value const& config, std::string const& source);

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/token_ids.inl.hpp>
#endif
