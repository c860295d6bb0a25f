#pragma once

#include <redco/model/stored_name.hpp>

#include <span>
#include <string>

namespace redco::adapt {

/// Returns PEFT's default targets for decoders: "q,v", the queries and values. Returns "qkv", one
/// adapter of all three, if the model's files store queries, keys and values as one tensor, as
/// GPT-2's do.
inline std::string usual_targets(std::span<models::stored_name const> names) {
  for (models::stored_name const& row : names)
    if (row.ours.ends_with(".q.weight") && row.parts > 1) return "qkv";
  return "q,v";
}

}  // namespace redco::adapt
