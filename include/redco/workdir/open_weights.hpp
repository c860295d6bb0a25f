#pragma once

#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::workdir {

/// Opens weights at `path`: files that open_safetensors() takes, or the parameters of a redco
/// checkpoint, whose hashes are verified by an additional read. Throws `error` with exit code 65 if
/// there are no valid weights. If `path` is a working directory, the message names its checkpoints.
safetensors::weights_source open_weights(std::filesystem::path const& path);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/open_weights.inl.hpp>
#endif
