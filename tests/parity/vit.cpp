#include "parity/parity.hpp"

#include <redco/pretrained/from_config/vit.hpp>
#include <redco/pretrained/stored_names/vit.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::vit_from_config, parity::task::image_to_class>();
