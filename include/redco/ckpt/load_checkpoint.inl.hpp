#pragma once

#include <redco/ckpt/load_checkpoint.hpp>

#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/merged.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/write_manifest.hpp>
#include <redco/safetensors/differences.hpp>
#include <redco/safetensors/open_files.hpp>
#include <redco/config.hpp>

namespace redco::ckpt {

REDCO_INLINE std::optional<workdir::found_checkpoint> find_checkpoint(group& world,
                                                                      std::filesystem::path const& workdir,
                                                                      std::string_view resume,
                                                                      workdir::find_options const& options) {
  std::optional<workdir::found_checkpoint> found;
  std::string const directory = detail::together(world, [&] {
                                  if (world.rank() == 0) found = workdir::find_checkpoint(workdir, resume, options);
                                  return found ? found->directory.string() : std::string();
                                }).front();
  if (directory.empty()) return std::nullopt;
  std::string const text = comm::gather_texts(world, found ? workdir::write_manifest(found->facts) : "").front();
  if (!found) found = {directory, workdir::read_manifest(text, directory + "/manifest.json")};
  return found;
}

REDCO_INLINE void load_checkpoint(workdir::found_checkpoint const& checkpoint, std::span<state_part const> parts,
                                  group& world, load_options const& options) {
  // A tensor that only another rank wants is not a surplus one, so the ranks' wishes are put together first.
  std::vector<std::string> const wishes = detail::together(world, [&] {
    workdir::manifest wish;
    wish.run = "load";
    wish.tensors = detail::described(parts);
    return workdir::write_manifest(wish);
  });
  detail::together(world, [&] {
    safetensors::refuse_differences(
        checkpoint.directory.string(),
        safetensors::differences(checkpoint.facts.tensors, workdir::put_together(wishes).tensors,
                                 {.unread = safetensors::names_beginning_with(options.unread)}));
    return std::string();
  });
  detail::together(world, [&] {
    read_parts(safetensors::open_files(checkpoint.directory, diag::links::refused), checkpoint.facts.tensors, parts);
    return std::string();
  });
}

}  // namespace redco::ckpt
