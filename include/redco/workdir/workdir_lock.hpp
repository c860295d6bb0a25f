#pragma once

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>

namespace redco::workdir {

/// A lock on a workdir, held by one live process at a time: flock on the file `<workdir>/.lock`,
/// which names the process and its host. The system releases the lock when the process ends,
/// however it ends. The constructor creates the folder if it does not exist. Throws `error` with
/// exit code 64 and the holder if another live process holds the lock. Throws 64 also for an
/// unusable folder, and 74 if the file system has no locks.
class workdir_lock {
 public:
  explicit workdir_lock(std::filesystem::path workdir);
  workdir_lock(workdir_lock const&) = delete;
  workdir_lock& operator=(workdir_lock const&) = delete;
  ~workdir_lock();

  std::filesystem::path const& workdir() const { return workdir_; }

 private:
  [[noreturn]] void refuse(std::string const& why) const;

  void write_holder() const;

  std::string read_holder() const;

  std::filesystem::path workdir_;
  int descriptor_ = -1;
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/workdir_lock.inl.hpp>
#endif
