#include "parity/parity.hpp"

#include <redco/pretrained/from_config/vision_encoder_decoder.hpp>
#include <redco/pretrained/stored_names/vision_encoder_decoder.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::vision_encoder_decoder_from_config, parity::task::image_to_text>();
