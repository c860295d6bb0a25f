#pragma once

#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::workdir {

/// Opens weights from outside: those that `open_safetensors` takes, or a checkpoint of ours (its
/// parameters; it is read once more, to verify its hashes). Errors: exit code 65 when there are
/// none or they are not valid; for a workdir the message names its checkpoints.
safetensors::weights_source open_weights(std::filesystem::path const& path);

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/open_weights.inl.hpp>
#endif
