#include "parity/parity.hpp"

#include <redco/pretrained/from_config/bart.hpp>
#include <redco/pretrained/stored_names/bart.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::bart_from_config, parity::task::encoder_decoder>();
