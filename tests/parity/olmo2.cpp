#include "parity/parity.hpp"

#include <redco/pretrained/from_config/olmo2.hpp>
#include <redco/pretrained/stored_names/llama.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::olmo2_from_config, parity::task::decoder>();
