#include "parity/parity.hpp"

#include <redco/pretrained/from_config/gemma.hpp>
#include <redco/pretrained/stored_names/gemma.hpp>

// Both families have one model type, which is compiled once.
[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::gemma2_from_config, parity::task::decoder>() &&
    parity::register_family<redco::pretrained::gemma3_from_config, parity::task::decoder>();
