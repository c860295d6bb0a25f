#pragma once

#include <redco/workdir/workdir_lock.hpp>

#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace redco::workdir {

REDCO_INLINE workdir_lock::workdir_lock(std::filesystem::path workdir) : workdir_(std::move(workdir)) {
  std::error_code failed;
  std::filesystem::create_directories(workdir_, failed);
  if (failed) refuse(failed.message());
  std::filesystem::path const path = workdir_ / ".lock";
  descriptor_ = diag::regular_file::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) refuse(path.string() + ": " + diag::regular_file::why_not(errno));
  int result = 0;
  do result = ::flock(descriptor_, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result != 0) {
    int const cause = errno;
    std::string const holder = read_holder();
    ::close(descriptor_);
    if (cause == EWOULDBLOCK) {
      throw error(exit_code::usage, "the working directory " + workdir_.string() + " is in use by " + holder +
                                        ". Wait for that run, stop it, or choose another --workdir.");
    }
    throw error(exit_code::io, "cannot lock " + path.string() + ": " + std::strerror(cause) +
                                   ". Choose a --workdir on a file system with locks.");
  }
  write_holder();
}

REDCO_INLINE workdir_lock::~workdir_lock() { ::close(descriptor_); }

REDCO_INLINE void workdir_lock::refuse(std::string const& why) const {
  throw error(exit_code::usage,
              "cannot use " + workdir_.string() + " as working directory: " + why + ". Choose another --workdir.");
}

REDCO_INLINE void workdir_lock::write_holder() const {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string const text = "process " + std::to_string(::getpid()) + " on host " + host.data() + "\n";
  // The text only helps processes that are refused: a failed write (a full disk) is no reason not
  // to run.
  if (::ftruncate(descriptor_, 0) == 0) (void)!::pwrite(descriptor_, text.data(), text.size(), 0);
}

REDCO_INLINE std::string workdir_lock::read_holder() const {
  std::array<char, 320> text{};
  ::ssize_t const got = ::pread(descriptor_, text.data(), text.size(), 0);
  std::string holder(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "another process" : holder;
}

}  // namespace redco::workdir
