#pragma once

#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::workdir {

/// Opens the model weights at `path`: files that open_safetensors() accepts, or a redco checkpoint,
/// whose hashes are verified first by reading all bytes. Throws `error` with exit code 65 if there
/// are no valid weights. If `path` is a workdir, the message names its checkpoints.
safetensors::weights_source open_weights(std::filesystem::path const& path);

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/open_weights.inl.hpp>
#endif
