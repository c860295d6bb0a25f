#pragma once

#include <redco/run/deployer.hpp>

#include <redco/run/checkpoint_room.hpp>
#include <redco/config.hpp>

namespace redco {

REDCO_INLINE deployer::deployer(deployer_options options)
    : options_(std::move(options)),
      mesh_(mesh_of(options_)),
      dtype_(choose_dtype(options_.dtype)),
      console_(standard_console(options_.quiet)),
      log_(console_),
      failures_(options_.workdir) {
  let_writes_fail();
}

REDCO_INLINE void deployer::claim_workdir() {
  if (lock_) return;
  checkpoint_room::check_folder(options_.workdir);
  lock_.emplace(options_.workdir);
  log_.open(options_.workdir / "log.txt");
  last_words_.keep(options_.workdir / "log.txt", failures_.file());
  log_.line(dtype_text(dtype_));
}

}  // namespace redco
