#include "parity/parity.hpp"

#include <redco/pretrained/from_config/gpt2.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::gpt2_from_config, parity::task::decoder>();
