#include "parity/parity.hpp"

#include <redco/pretrained/from_config/opt.hpp>
#include <redco/pretrained/stored_names/opt.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::opt_from_config, parity::task::decoder>();
