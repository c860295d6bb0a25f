#include "parity/parity.hpp"

#include <redco/model/from_config/qwen2.hpp>
#include <redco/model/stored_names/qwen2.hpp>

[[maybe_unused]] static bool const known = parity::register_family<redco::qwen2_from_config, parity::task::decoder>();
