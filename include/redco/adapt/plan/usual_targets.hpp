#pragma once

#include <redco/model/stored_name.hpp>

#include <span>
#include <string>

namespace redco {

/// What is adapted where nobody says, as PEFT does for decoders: queries and values; where the
/// files keep q, k and v as one tensor, as GPT-2's do, all three as one.
inline std::string usual_targets(std::span<stored_name const> names) {
  for (stored_name const& row : names)
    if (row.ours.ends_with(".q.weight") && row.parts > 1) return "qkv";
  return "q,v";
}

}  // namespace redco
