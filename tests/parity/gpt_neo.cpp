#include "parity/parity.hpp"

#include <redco/pretrained/from_config/gpt_neo.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::gpt_neo_from_config, parity::task::decoder>();
