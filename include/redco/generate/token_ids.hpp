#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace redco {

/// Ids with which a model's generation begins and ends.
struct token_ids {
  std::vector<std::int64_t> stop = {};     ///< end a text
  std::int64_t padding = 0;                ///< fills rows behind their end; the first of `stop` where none is named
  std::optional<std::int64_t> start = {};  ///< begins the decoder of an encoder-decoder
  std::int64_t forced_end = -1;            ///< the last id of a text that is cut off; -1: none
};

/// What generation_config.json, else config.json, of a model's folder says. Errors: exit code 65 where a file is there and no
/// id is read from it.
token_ids read_token_ids(std::filesystem::path const& folder);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/generate/impl/token_ids.hpp>
#endif
