#include "parity/parity.hpp"

#include <redco/model/from_config/gpt2.hpp>
#include <redco/model/stored_names/gpt2.hpp>

[[maybe_unused]] static bool const known = parity::register_family<redco::gpt2_from_config, parity::task::decoder>();
