#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/find_checkpoint.hpp>

#include <redco/comm/group.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::ckpt {

/// What of a checkpoint need not be read.
struct load_options {
  /// Tensors whose names begin so may be in the checkpoint without being wanted: {"optimizer.", "master."} to predict.
  std::vector<std::string> unread{};
};

/// `find_checkpoint` by rank 0, told to all ranks of `world`. Every rank gets the same answer or throws the same error; 65 too where
/// "auto" finds nothing on the host of rank 0 and another host has a run of this workdir.
std::optional<workdir::found_checkpoint> find_checkpoint(group& world, std::filesystem::path const& workdir,
                                                         std::string_view resume,
                                                         workdir::find_options const& options = {});

/// Fills every rank's parts from a checkpoint, whatever mesh saved it: bit for bit, padding zero. All ranks of `world`
/// call it. Whose host does not see what rank 0 has found gets its parts from rank 0.
///
/// Names, shapes and dtypes are compared before anything is read: error 65 with the first 20 differences and their
/// number when the checkpoint does not belong to this state. A rank that cannot read ends all with its error, 65 or 74;
/// parts may then be half filled.
void load_checkpoint(workdir::found_checkpoint const& checkpoint, std::span<state_part const> parts, group& world,
                     load_options const& options = {});

}  // namespace redco::ckpt

#ifndef REDCO_COMPILED
#include <redco/ckpt/load_checkpoint.inl.hpp>
#endif
