#pragma once

#include <redco/model/stored_name.hpp>

#include <span>
#include <string>

namespace redco {

/// Returns PEFT's default targets for decoders: queries and values. If the model's files store q, k
/// and v as one tensor, as GPT-2's do, returns "qkv" for all three as one.
inline std::string usual_targets(std::span<stored_name const> names) {
  for (stored_name const& row : names)
    if (row.ours.ends_with(".q.weight") && row.parts > 1) return "qkv";
  return "q,v";
}

}  // namespace redco
