#include "parity/parity.hpp"

#include <redco/model/from_config/mistral.hpp>
#include <redco/model/stored_names/mistral.hpp>

[[maybe_unused]] static bool const known = parity::register_family<redco::mistral_from_config, parity::task::decoder>();
