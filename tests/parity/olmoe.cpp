#include "parity/parity.hpp"

#include <redco/pretrained/from_config/olmoe.hpp>
#include <redco/pretrained/stored_names/llama.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::olmoe_from_config, parity::task::decoder>();
