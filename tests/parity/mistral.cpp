#include "parity/parity.hpp"

#include <redco/pretrained/from_config/mistral.hpp>
#include <redco/pretrained/stored_names/llama.hpp>

[[maybe_unused]] static bool const known = parity::register_family<redco::mistral_from_config, parity::task::decoder>();
