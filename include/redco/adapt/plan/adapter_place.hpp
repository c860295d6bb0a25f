#pragma once

#include <redco/pretrained/stored_part.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/box.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Where PEFT keeps half of an adapter, and what its adapter_config.json says of it.
struct adapter_place {
  stored_part part;         ///< "base_model.model.<module>.lora_A.weight"
  std::string module;       ///< behind the block's number: "self_attn.q_proj"
  bool transposed = false;  ///< the module keeps its own weight with rows and columns exchanged (fan_in_fan_out)
};

/// That of our parameter `ours` ("layers.0.self_attn.q.lora_B.weight") of this shape, by the names
/// of the frozen model's weights. The adapters of weights that a file keeps as one tensor are those
/// of one module: one A, and B's one behind the other. Errors: exit code 64 where such weights have
/// an A each, or others one in common; 70 where the table has no such weight.
adapter_place adapter_place_of(std::span<stored_name const> names, std::string const& ours,
                               std::vector<std::int64_t> const& shape, safetensors::box const& place);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/adapt/plan/adapter_place.inl.hpp>
#endif
