#include "parity/parity.hpp"

#include <redco/pretrained/from_config/mixtral.hpp>
#include <redco/pretrained/stored_names/llama.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::mixtral_from_config, parity::task::decoder>() &&
    parity::register_family<redco::pretrained::qwen3_moe_from_config, parity::task::decoder>();
