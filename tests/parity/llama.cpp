#include "parity/parity.hpp"

#include <redco/model/from_config/llama.hpp>
#include <redco/model/stored_names/llama.hpp>

[[maybe_unused]] static bool const known = parity::register_family<redco::llama_from_config, parity::task::decoder>();
