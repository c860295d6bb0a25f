#pragma once

#include <redco/data/image_processor.hpp>

#include <cstdint>
#include <filesystem>

namespace redco::pretrained {

/// Returns the settings of a preprocessor_config.json, `file`, for a model that reads images of
/// `height` x `width` pixels. The result equals the PIL processors of transformers: ViT, DeiT and
/// CLIP. A file that is missing, or without a size, scales images to the model's size.
///
/// Throws `error` with exit code 65 for other processors, for settings that they do not follow, and
/// for a size that the model does not read. The message names the key.
data::image_processor read_image_processor(std::filesystem::path const& file, std::int64_t height, std::int64_t width);

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/image_processor.inl.hpp>
#endif
