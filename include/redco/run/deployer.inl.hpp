#pragma once

#include <redco/run/deployer.hpp>

#include <redco/run/dtype_text.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/workdir/checkpoint_room.hpp>
#include <redco/config.hpp>

namespace redco::run::detail {

/// The mesh of options that this build can compute. Errors: exit code 64.
inline mesh runnable_mesh(deployer_options const& o) {
  mesh const m = mesh_of(o);
  device_of(o.device);
  if (kernel_set_in_use() == kernel_set::composed && o.check_saved)
    throw error(exit_code::usage,
                "--check-saved compares with what the fastest kernels keep: unset REDCO_KERNELS in the environment");
  return m;
}

}  // namespace redco::run::detail

namespace redco {

REDCO_INLINE deployer::deployer(deployer_options options)
    : options_(std::move(options)),
      mesh_(run::detail::runnable_mesh(options_)),
      dtype_(choose_dtype(options_.dtype)),
      output_(std::make_shared<run::run_output>(options_.quiet)),
      failures_(options_.workdir),
      last_words_(words_of) {
  diag::let_writes_fail();
  run::keep_for_end(output_);
}

REDCO_INLINE void deployer::claim_workdir() {
  if (lock_) return;
  workdir::checkpoint_room::check_folder(options_.workdir);
  lock_.emplace(options_.workdir);
  log().open(options_.workdir / "log.txt");
  last_words_.keep(options_.workdir / "log.txt", failures_.file());
  log().line(run::dtype_text(dtype_));
}

}  // namespace redco
