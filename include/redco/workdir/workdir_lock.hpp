#pragma once

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>

namespace redco::workdir {

/// The right to write into a working directory, held by one live process at a time: flock on `<workdir>/.lock`, which
/// says who holds it. The system takes it back when the process ends, however it ends. Makes the directory when it is
/// not there. Errors: 64 naming process and host when a live run has it, or when the directory cannot be used; 74 when
/// the file system knows no locks.
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

#ifndef REDCO_COMPILED
#include <redco/workdir/workdir_lock.inl.hpp>
#endif
