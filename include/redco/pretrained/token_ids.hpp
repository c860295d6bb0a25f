#pragma once

#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// Ids with which a model's generation begins and ends.
struct token_ids {
  std::vector<std::int64_t> stop = {};     ///< end a text
  std::int64_t padding = 0;                ///< fills rows behind their end; the first of `stop` where none is named
  std::optional<std::int64_t> start = {};  ///< begins the decoder of an encoder-decoder
  std::int64_t forced_begin = -1;          ///< the first id behind `start`; -1: any
  std::int64_t forced_end = -1;            ///< the last id of a text that is cut off; -1: none
};

namespace detail {

/// The file of a model's folder that says how it generates. Errors: exit code 65 where there is none.
std::filesystem::path generation_file(std::filesystem::path const& folder);

/// What such a file says.
token_ids token_ids_of(json_value const& config, std::string const& source);

}  // namespace detail

/// What generation_config.json, else config.json, of a model's folder says. Errors: exit code 65 where a file is there and no
/// id is read from it.
token_ids read_token_ids(std::filesystem::path const& folder);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/token_ids.inl.hpp>
#endif
