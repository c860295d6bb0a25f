#pragma once

#include <redco/ckpt/checkpoint_store.hpp>
#include <redco/ckpt/detail/merged.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/ckpt/file_ops.hpp>
#include <redco/ckpt/manifest.hpp>
#include <redco/ckpt/state_part.hpp>

#include <redco/comm/group.hpp>
#include <redco/diag/error.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// What is saved besides the tensors, and what happens to older checkpoints.
struct save_options {
  std::filesystem::path workdir;        ///< the checkpoint becomes `<workdir>/ckpts/step_<s>`
  manifest facts;                       ///< run, step, epoch, mesh, ...; `tensors` and `files` are filled in by saving
  std::vector<std::string> pointers{};  ///< names besides `last` for it: epoch_3, min_loss, max_accuracy
  int keep_last = 0;                    ///< how many of this run's checkpoints stay, besides those with a name; 0: all
};

/// Saves the state of a run: the commit protocol of a complete checkpoint or none.
///
/// All ranks of `world` call it with the same options and their own parts; each writes the parts it owns, rank 0 alone
/// makes, names and removes directories. The k-th of n ranks that own something of a kind writes
/// `parameters-<k>of<n>.safetensors`, `optimizer-...`, `masters-...`. A crash or a power cut at any instant leaves the
/// older checkpoints, and this one whole or not at all. When some rank fails, what was written is removed and every
/// rank throws that rank's error: 74 naming path and bytes when the disk is full or fails, 70 when the owners' boxes do
/// not make each tensor whole. The deadline of `world` must allow for the slowest rank's writing. Returns the
/// checkpoint's path.
template <file_ops Ops> std::filesystem::path save_checkpoint(save_options const& options,
                                                              std::span<state_part const> parts, group& world,
                                                              Ops& ops) {
  std::int64_t const step = options.facts.step;
  checkpoint_store<Ops> store(ops, options.workdir / checkpoint_names::folder, options.facts.run);
  bool const first = world.rank() == 0;
  auto const kinds = detail::written_parts(parts);

  auto const step_by_step = [&](auto work) {
    detail::outcome result = detail::attempt_together(world, work);
    if (result.failure) {
      try {
        if (first) store.discard(step);
      } catch (error const&) {
        // The failure that led here is the one to report; the next run's sweep removes what is left.
      }
      throw *result.failure;
    }
    return result.texts;
  };

  std::vector<std::string> const writers = step_by_step([&] {
    if (first) store.begin(step);
    std::string own;
    for (auto const& [kind, some] : kinds) own += kind + "\n";
    return own;
  });

  std::vector<std::string> const shares = step_by_step([&] {
    manifest share;
    share.run = options.facts.run;
    share.tensors = detail::described(parts);
    for (auto const& [kind, some] : kinds) {
      detail::write_parts(ops, store.unfinished(step), detail::file_name(kind, writers, world.rank()), some, share);
    }
    return write_manifest(share);
  });

  step_by_step([&] {
    if (first) store.commit(detail::merged(options.facts, shares));
    return std::string();
  });

  detail::together(world, [&] {
    if (first) store.point(step, options.pointers);
    return std::string();
  });
  detail::together(world, [&] {
    if (first) store.retain(options.keep_last);
    return std::string();
  });
  return store.directory() / checkpoint_names::of_step(step);
}

/// The same, on the disk of this machine.
inline std::filesystem::path save_checkpoint(save_options const& options, std::span<state_part const> parts,
                                             group& world) {
  posix_file_ops ops;
  return save_checkpoint(options, parts, world, ops);
}

}  // namespace redco
