#pragma once

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/detail/handed_parts.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/checkpoint_store.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/workdir_lock.hpp>
#include <redco/safetensors/file_ops.hpp>

#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace redco::ckpt {

/// Saves a checkpoint as save_checkpoint does. `ops`: system calls for writing files, which tests
/// replace by calls that fail.
template <safetensors::file_ops Ops>
std::filesystem::path save_checkpoint_with(Ops& ops, workdir::save_options const& options,
                                           std::span<state_part const> parts, comm::group& world) {
  std::int64_t const step = options.facts.step;
  workdir::checkpoint_store<Ops> store(ops, options.workdir / workdir::checkpoint_names::folder, options.facts.run,
                                       options.kept);
  bool const first = world.rank() == 0;
  auto const kinds = detail::written_parts(parts);
  auto const check_lock = [&] {
    if (first && options.lock != nullptr) options.lock->check_holder();
  };

  std::string const task = "saving step " + std::to_string(step);
  detail::disk_deadline const patient(world, options.disk);

  auto const checked = [&](diag::outcomes const& result) {
    if (result.failure) {
      try {
        check_lock();  // throws if the files may be another run's
        if (first) store.discard(step);
      } catch (error const&) {
        // The first failure is the one to report; the next run removes the leftover files.
      }
      throw *result.failure;
    }
    return result.texts;
  };
  auto const step_by_step = [&](auto work) { return checked(detail::attempt_together(world, work)); };

  std::vector<std::string> const writers = step_by_step([&] {
    check_lock();
    if (first) store.begin(step);
    std::string own;
    for (auto const& [kind, some] : kinds) own += kind + "\n";
    return own;
  });

  std::string const token = comm::broadcast_text(world, first ? store.token(step) : std::string());

  // A share marked "away" comes from a rank that does not see the folder; rank 0 writes its files.
  std::string const away = "away\n";
  auto const write_share = [&](detail::disk_phase& phase) {
    bool const sees = first || (!token.empty() && store.token(step) == token);
    workdir::manifest share;
    share.run = options.facts.run;
    share.tensors = detail::described(parts);
    for (auto const& [kind, some] : kinds) {
      std::string const name = workdir::file_name(kind, writers, world.rank());
      for (detail::written_part const& one : some)
        share.tensors.at(one.part->name).parts.push_back(detail::stored_part(name, one));
      if (sees)
        detail::write_parts(ops, store.unfinished(step), name, some, share,
                            [&](std::uint64_t bytes) { phase.add(bytes); });
    }
    return (sees ? "" : away) + workdir::write_manifest(share);
  };
  std::vector<std::string> shares =
      checked(detail::attempt_on_disk(world, task, detail::bytes_in(kinds), options.disk, write_share));
  detail::first_failure failure;
  for (int from = 1; from < world.size(); ++from) {
    std::string& text = shares[static_cast<std::size_t>(from)];
    if (!text.starts_with(away)) continue;
    bool const sends = from == world.rank();
    detail::disk_phase phase(world, task + " for rank " + std::to_string(from), sends ? detail::bytes_in(kinds) : 0,
                             options.disk);
    if (sends) detail::hand_over_files(kinds, world, phase);
    if (first) {
      workdir::manifest share = workdir::put_together({text.substr(away.size())});
      share.run = options.facts.run;
      detail::take_over_files(ops, store.unfinished(step), share, from, world, phase, failure);
      text = workdir::write_manifest(share);
    }
    phase.finish();
  }

  step_by_step([&] {
    failure.raise();
    if (!first) return std::string();
    check_lock();
    workdir::manifest facts = workdir::merged(options.facts, shares);
    facts.names = options.pointers;
    store.commit(facts);
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
  return store.directory() / workdir::checkpoint_names::of_step(step);
}

}  // namespace redco::ckpt
