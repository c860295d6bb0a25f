#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/save_options.hpp>

#include <redco/comm/group.hpp>

#include <filesystem>
#include <span>

namespace redco::ckpt {

/// Saves the state of a run: the commit protocol of a complete checkpoint or none.
///
/// All ranks of `world` call it with the same options and their own parts; each writes the parts it owns, rank 0 alone
/// makes, names and removes directories, and writes for those whose host does not see them. The k-th of n ranks that own something of a kind writes
/// `parameters-<k>of<n>.safetensors`, `optimizer-...`, `masters-...`. A crash or a power cut at any instant leaves the
/// older checkpoints, and this one whole or not at all. When some rank fails, what was written is removed and every
/// rank throws that rank's error: 74 naming path and bytes when the disk is full or fails, 70 when the owners' boxes do
/// not make each tensor whole. The deadline of `world` must allow for the slowest rank's writing. Returns the
/// checkpoint's path.
std::filesystem::path save_checkpoint(workdir::save_options const& options, std::span<state_part const> parts,
                                      group& world);

}  // namespace redco::ckpt

#ifndef REDCO_COMPILED
#include <redco/ckpt/save_checkpoint.inl.hpp>
#endif
