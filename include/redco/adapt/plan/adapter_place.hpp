#pragma once

#include <redco/pretrained/stored_part.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/box.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// The place of one half of an adapter (A or B) in PEFT's file, with its entries of
/// adapter_config.json.
struct adapter_place {
  /// Name, shape and box in PEFT's file: "base_model.model.<module>.lora_A.weight".
  stored_part part;
  /// Path of the module after the block's number: "self_attn.q_proj".
  std::string module;
  /// True if the module stores its own weight transposed (fan_in_fan_out).
  bool transposed = false;
};

/// Returns the place of parameter `ours` ("layers.0.self_attn.q.lora_B.weight") in PEFT's file.
/// `names`: stored names of the frozen model. Weights that a file stores as one tensor have one A,
/// and their B's are concatenated. Throws `error` with exit code 64 if fused weights have separate
/// A's or separate weights share one, 70 if `names` lacks the weight.
adapter_place adapter_place_of(std::span<stored_name const> names, std::string const& ours,
                               std::vector<std::int64_t> const& shape, safetensors::box const& place);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/adapt/plan/adapter_place.inl.hpp>
#endif
