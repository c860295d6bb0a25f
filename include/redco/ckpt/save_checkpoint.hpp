#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/manifest.hpp>

#include <redco/comm/group.hpp>

#include <filesystem>
#include <span>

namespace redco::ckpt {

/// Saves the state of a run as a complete checkpoint or not at all, and returns its path. All ranks
/// of `world` must call it with the same options and their own parts. Each rank writes the parts it
/// owns; rank 0 manages directories and writes for ranks whose host does not see them. The member
/// `options.disk` limits the time without progress.
///
/// If a rank fails, the new files are removed and every rank throws that rank's error. Its code is
/// 74 if a disk fails, 70 if the owners' boxes do not cover each tensor exactly once, or 64 if the
/// workdir belongs to another run.
std::filesystem::path save_checkpoint(workdir::save_options const& options, std::span<state_part const> parts,
                                      comm::group& world);

/// Changes the manifest of the complete checkpoint of step `options.facts.step`: takes the best
/// values, the patience and `interrupted` of `options.facts`, and adds `options.pointers` to its
/// names. Then sets these links and removes older checkpoints, as a save does. Returns the path of
/// the checkpoint. All ranks of `world` must call it. Throws `error` on all ranks with exit code 74
/// if the disk fails, or 64 if the workdir belongs to another run; the checkpoint stays complete.
std::filesystem::path amend_checkpoint(workdir::save_options const& options, comm::group& world);

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/save_checkpoint.inl.hpp>
#endif
