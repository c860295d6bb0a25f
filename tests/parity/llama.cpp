#include "parity/parity.hpp"

#include <redco/pretrained/from_config/llama.hpp>
#include <redco/pretrained/stored_names/llama.hpp>

// The families have one model type, which is compiled once.
[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::llama_from_config, parity::task::decoder>() &&
    parity::register_family<redco::pretrained::mistral_from_config, parity::task::decoder>() &&
    parity::register_family<redco::pretrained::qwen2_from_config, parity::task::decoder>() &&
    parity::register_family<redco::pretrained::qwen3_from_config, parity::task::decoder>() &&
    parity::register_family<redco::pretrained::smollm3_from_config, parity::task::decoder>() &&
    parity::register_family<redco::pretrained::phi3_from_config, parity::task::decoder>();
