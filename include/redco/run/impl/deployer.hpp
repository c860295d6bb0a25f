#pragma once

#include <redco/run/deployer.hpp>

#include <redco/run/fastest_dtype.hpp>
#include <redco/config.hpp>

namespace redco {

REDCO_INLINE deployer::deployer(deployer_options options)
    : options_(std::move(options)),
      mesh_(mesh_of(options_)),
      compute_(options_.dtype.value_or(fastest_dtype())),
      console_(standard_console(options_.quiet)),
      log_(console_) {
  if (compute_ != dtype::f32 && compute_ != dtype::f64 && compute_ != dtype::bf16)
    throw error(exit_code::usage,
                "--dtype " + std::string(name_of(compute_)) + " cannot be trained in; use f32, bf16 or f64");
}

REDCO_INLINE void deployer::claim_workdir() {
  if (lock_) return;
  lock_.emplace(options_.workdir);
  log_.open(options_.workdir / "log.txt");
}

}  // namespace redco
