#pragma once

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>

namespace redco::workdir {

/// A lock on a workdir, held by one live process at a time: flock on the file `<workdir>/.lock`,
/// which names the process, its host and a random start number. The system releases the lock when
/// the process ends, however it ends. The constructor creates the folder if it does not exist.
/// Throws `error` with exit code 64 and the holder if another live process holds the lock. Throws
/// 64 also for an unusable folder, and 74 if the file system has no locks.
class workdir_lock {
 public:
  explicit workdir_lock(std::filesystem::path workdir);
  workdir_lock(workdir_lock const&) = delete;
  workdir_lock& operator=(workdir_lock const&) = delete;
  ~workdir_lock();

  std::filesystem::path const& workdir() const { return workdir_; }

  /// Reads `.lock` again, because the locks of some network file systems do not reach other hosts.
  /// Call it before each change of the checkpoints. Throws `error` with exit code 64 and both
  /// holders if another process has written its name into the file.
  void check_holder() const;

 private:
  [[noreturn]] void refuse(std::string const& why) const;

  void write_holder();

  static std::string read_holder(int descriptor);

  std::filesystem::path workdir_;
  int descriptor_ = -1;
  std::string holder_;  ///< text of `.lock` after this process has taken the lock
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/workdir_lock.inl.hpp>
#endif
