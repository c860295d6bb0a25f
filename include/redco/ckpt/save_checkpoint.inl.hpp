#pragma once

#include <redco/ckpt/save_checkpoint.hpp>

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/checkpoint_store.hpp>
#include <redco/workdir/workdir_lock.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::ckpt {

REDCO_INLINE std::filesystem::path save_checkpoint(workdir::save_options const& options,
                                                   std::span<state_part const> parts, comm::group& world) {
  safetensors::posix_file_ops ops;
  return save_checkpoint_with(ops, options, parts, world);
}

REDCO_INLINE std::filesystem::path amend_checkpoint(workdir::save_options const& options, comm::group& world) {
  safetensors::posix_file_ops ops;
  workdir::checkpoint_store<> store(ops, options.workdir / workdir::checkpoint_names::folder, options.facts.run,
                                    options.kept);
  detail::disk_deadline const patient(world, options.disk);
  detail::together(world, [&] {
    if (world.rank() != 0) return std::string();
    if (options.lock != nullptr) options.lock->check_holder();
    store.amend(options.facts, options.pointers);
    store.point(options.facts.step, options.pointers);
    store.retain(options.keep_last);
    return std::string();
  });
  return store.directory() / workdir::checkpoint_names::of_step(options.facts.step);
}

}  // namespace redco::ckpt
