#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/disk_limits.hpp>
#include <redco/workdir/find_checkpoint.hpp>

#include <redco/comm/group.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::ckpt {

/// Options of load_checkpoint.
struct load_options {
  /// Prefixes of tensor names that the checkpoint may have although no rank loads them, such as
  /// {"optimizer.", "master."} for prediction.
  std::vector<std::string> unread{};
  workdir::disk_limits disk = {};
};

/// Finds a checkpoint of the run in `workdir`: rank 0 searches and shares the result. All ranks
/// must call it; all return the same result or throw the same error. With `options.verify`, the
/// ranks share the work of hashing: each host hashes the files that contain `parts` of its ranks.
/// `limits`: how long ranks wait for each other's disks.
///
/// Throws `error` with exit code 65 if `resume` is "auto" and rank 0's host has no checkpoint but
/// another host has one. Throws also what workdir::find_checkpoint throws.
std::optional<workdir::found_checkpoint> find_checkpoint(comm::group& world, std::filesystem::path const& workdir,
                                                         std::string_view resume,
                                                         workdir::find_options const& options = {},
                                                         std::span<state_part const> parts = {},
                                                         workdir::disk_limits const& limits = {});

/// Fills every rank's parts from a checkpoint that any mesh saved, bit for bit; padding becomes
/// zero. All ranks of `world` must call it. Ranks whose host does not see the checkpoint receive
/// their parts from rank 0.
///
/// Compares names, shapes and dtypes before reading. Throws `error` with exit code 65 and the first
/// 20 differences if the checkpoint does not fit the state. If a rank cannot read, all ranks throw
/// its error (exit code 65 or 74), and parts may be partly filled.
void load_checkpoint(workdir::found_checkpoint const& checkpoint, std::span<state_part const> parts, comm::group& world,
                     load_options const& options = {});

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/load_checkpoint.inl.hpp>
#endif
