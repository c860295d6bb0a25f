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

namespace redco {

REDCO_INLINE std::optional<found_checkpoint> find_checkpoint(group& world, std::filesystem::path const& workdir,
                                                             std::string_view resume, find_options const& options) {
  std::optional<found_checkpoint> found;
  std::string const directory = detail::together(world, [&] {
                                  if (world.rank() == 0) found = find_checkpoint(workdir, resume, options);
                                  return found ? found->directory.string() : std::string();
                                }).front();
  if (directory.empty()) return std::nullopt;
  std::string const text = detail::gather_texts(world, found ? write_manifest(found->facts) : "").front();
  if (!found) found = {directory, read_manifest(text, directory + "/manifest.json")};
  return found;
}

REDCO_INLINE void load_checkpoint(found_checkpoint const& checkpoint, std::span<state_part const> parts, group& world,
                                  load_options const& options) {
  // A tensor that only another rank wants is not a surplus one, so the ranks' wishes are put together first.
  std::vector<std::string> const wishes = detail::together(world, [&] {
    manifest wish;
    wish.run = "load";
    wish.tensors = detail::described(parts);
    return write_manifest(wish);
  });
  detail::together(world, [&] {
    detail::refuse_differences(checkpoint.directory.string(),
                               detail::differences(checkpoint.facts.tensors, detail::put_together(wishes).tensors,
                                                   {.unread = detail::names_beginning_with(options.unread)}));
    return std::string();
  });
  detail::together(world, [&] {
    read_parts(open_files(checkpoint.directory, links::refused), checkpoint.facts.tensors, parts);
    return std::string();
  });
}

}  // namespace redco
