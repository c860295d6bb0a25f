#pragma once

#include <redco/ckpt/load_checkpoint.hpp>

#include <redco/ckpt/detail/checked_files.hpp>
#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/detail/handed_parts.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/write_manifest.hpp>
#include <redco/safetensors/differences.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/diag/outcomes.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace redco::ckpt::detail {

/// Throws `error` with exit code 65 if rank 0's host has no checkpoint in `workdir` but another
/// rank's host has one. Prevents an unintended start from scratch. All ranks must call it.
inline void refuse_lost_run(comm::group& world, std::filesystem::path const& workdir) {
  std::error_code none;
  bool const here = std::filesystem::exists(
      workdir / workdir::checkpoint_names::folder / workdir::checkpoint_names::pointer_file, none);
  std::vector<std::string> const has = together(world, [&] { return std::string(here ? "1" : ""); });
  for (std::size_t rank = 1; rank < has.size(); ++rank)
    if (has.front().empty() && !has[rank].empty())
      throw error(exit_code::data, "no checkpoint in " + workdir.string() + comm::on_host_of_rank(0) +
                                       ", where rank 0 looks, but one" + comm::on_host_of_rank(static_cast<int>(rank)) +
                                       ", where rank " + std::to_string(rank) +
                                       " looks: start the first process there, or put the folder where all hosts see "
                                       "it, or start anew with --resume none");
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

REDCO_INLINE std::optional<workdir::found_checkpoint> find_checkpoint(
    comm::group& world, std::filesystem::path const& workdir, std::string_view resume,
    workdir::find_options const& options, std::span<state_part const> parts, workdir::disk_limits const& limits) {
  detail::disk_deadline const patient(world, limits);
  std::optional<workdir::found_checkpoint> found;
  std::string outcome = "+";
  if (world.rank() == 0) {
    workdir::find_options searched = options;
    searched.verify = false;
    if (options.verify)
      searched.also_check = [&](workdir::found_checkpoint const& one) {
        comm::broadcast_text(world, one.directory.string() + "\n" + workdir::write_manifest(one.facts));
        if (auto const damage = detail::damage_of(world, one, parts, limits); !damage.empty())
          throw error(exit_code::data, damage);
      };
    outcome = diag::outcome_text([&] {
      found = workdir::find_checkpoint(workdir, resume, searched);
      return found ? found->directory.string() : std::string();
    });
    comm::broadcast_text(world, "");
  } else {
    // Rank 0 names each checkpoint whose files all ranks hash, and ends with an empty text.
    for (std::string text = comm::broadcast_text(world, ""); !text.empty(); text = comm::broadcast_text(world, "")) {
      std::string const directory = text.substr(0, text.find('\n'));
      try {
        workdir::manifest const facts =
            workdir::read_manifest(text.substr(directory.size() + 1), directory + "/manifest.json");
        detail::damage_of(world, {directory, facts}, parts, limits);
      } catch (error const&) {
        // Rank 0 has the same failure and reports it.
      }
    }
  }
  diag::outcomes const result = diag::outcomes_of(comm::gather_texts(world, outcome));
  if (result.failure) throw *result.failure;
  std::string const& directory = result.texts.front();
  if (directory.empty()) {
    if (resume == "auto") detail::refuse_lost_run(world, workdir);
    return std::nullopt;
  }
  std::string const text = comm::gather_texts(world, found ? workdir::write_manifest(found->facts) : "").front();
  if (!found) found = {directory, workdir::read_manifest(text, directory + "/manifest.json")};
  return found;
}

REDCO_INLINE void load_checkpoint(workdir::found_checkpoint const& checkpoint, std::span<state_part const> parts,
                                  comm::group& world, load_options const& options) {
  // The tables of all ranks are merged first: a tensor that only another rank loads is not
  // superfluous.
  std::vector<std::string> const wishes = detail::together(world, [&] {
    workdir::manifest wish;
    wish.run = "load";
    wish.tensors = detail::described(parts);
    return workdir::write_manifest(wish);
  });
  detail::disk_deadline const patient(world, options.disk);
  detail::together(world, [&] {
    safetensors::refuse_differences(
        checkpoint.directory.string(),
        safetensors::differences(checkpoint.facts.tensors, workdir::put_together(wishes).tensors,
                                 {.unread = safetensors::names_beginning_with(options.unread)}));
    return std::string();
  });
  safetensors::open_files const files(checkpoint.directory, diag::links::refused);
  std::uint64_t bytes = 0;
  for (state_part const& part : parts) bytes += part.local.nbytes();
  std::string const task = "loading step " + std::to_string(checkpoint.facts.step);
  std::vector<std::string> const away =
      detail::on_disk(world, task, bytes, options.disk, [&](detail::disk_phase& phase) {
        if (!detail::sees(checkpoint)) {
          workdir::manifest wish;
          wish.run = "wishes";
          wish.tensors = detail::wishes_of(parts);
          return workdir::write_manifest(wish);
        }
        for (state_part const& part : parts) {
          read_parts(files, checkpoint.facts.tensors, {&part, 1});
          phase.add(part.local.nbytes());
        }
        return std::string();
      });
  detail::first_failure failure;
  for (int to = 1; to < world.size(); ++to) {
    std::string const& wished = away[static_cast<std::size_t>(to)];
    if (wished.empty()) continue;
    bool const takes = world.rank() == to;
    detail::disk_phase phase(world, task + " for rank " + std::to_string(to), takes ? bytes : 0, options.disk);
    if (takes) detail::take_over_wished(parts, world, phase);
    if (world.rank() == 0)
      detail::hand_over_wished(files, checkpoint.facts.tensors, workdir::put_together({wished}).tensors, to, world,
                               phase, failure);
    phase.finish();
  }
  detail::together(world, [&] {
    failure.raise();
    return std::string();
  });
}

}  // namespace redco::ckpt
