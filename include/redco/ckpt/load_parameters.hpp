#pragma once

#include <redco/ckpt/input_file.hpp>
#include <redco/ckpt/manifest.hpp>
#include <redco/ckpt/state_part.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <span>
#include <string>

namespace redco {

/// The tensors of weights on the disk, and the directory that their files' names count from.
struct weights_source {
  std::filesystem::path directory;
  tensor_table tensors;
  links policy = links::followed;
};

/// Opens weights from outside: a `.safetensors` file, an index of several (`.json`), a directory with
/// `model.safetensors` or `model.safetensors.index.json`, or a checkpoint of ours (its parameters). Error 65 when there
/// are none or they are not valid.
weights_source open_weights(std::filesystem::path const& path);

/// Fills this rank's parts with weights from outside (a warm start): each by its name in the file, its own box of it
/// only. Floating types are converted to the part's own. Strict: a missing, surplus or differently shaped tensor is
/// error 65 with the first 20 differences; `unread` names the beginnings of those that may be surplus. Each rank calls
/// it for itself.
void load_parameters(weights_source const& weights, std::span<state_part const> parts,
                     std::vector<std::string> const& unread = {});

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/ckpt/impl/load_parameters.hpp>
#endif
