#include "parity/parity.hpp"

#include <redco/pretrained/from_config/t5.hpp>
#include <redco/pretrained/stored_names/t5.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::t5_from_config, parity::task::encoder_decoder>();
