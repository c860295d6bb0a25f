#pragma once

#include <redco/workdir/workdir_lock.hpp>

#include <redco/workdir/detail/durable_folder.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace redco::workdir {

REDCO_INLINE workdir_lock::workdir_lock(std::filesystem::path workdir) : workdir_(std::move(workdir)) {
  safetensors::posix_file_ops ops;
  std::error_code const failed = detail::make_durable_folder(ops, workdir_);
  if (failed) refuse(failed.message());
  std::filesystem::path const path = workdir_ / ".lock";
  descriptor_ = diag::regular_file::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) refuse(path.string() + ": " + diag::regular_file::why_not(errno));
  int result = 0;
  do result = ::flock(descriptor_, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result != 0) {
    int const cause = errno;
    std::string const holder = read_holder(descriptor_);
    ::close(descriptor_);
    if (cause == EWOULDBLOCK) {
      throw error(exit_code::usage, "the working directory " + workdir_.string() + " is in use by " +
                                        (holder.empty() ? "another process" : holder) +
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

REDCO_INLINE void workdir_lock::write_holder() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::random_device entropy;
  std::string const text = "process " + std::to_string(::getpid()) + " on host " + host.data() + ", start " +
                           std::to_string(entropy()) + "\n";
  // A failed write (a full disk) is no reason not to run: then the file keeps another text, which
  // check_holder() accepts. The sync shows the text to other hosts.
  if (::ftruncate(descriptor_, 0) == 0) (void)!::pwrite(descriptor_, text.data(), text.size(), 0);
  ::fsync(descriptor_);
  holder_ = read_holder(descriptor_);
}

REDCO_INLINE void workdir_lock::check_holder() const {
  // A new descriptor, because the client of a network file system compares with the server when a
  // file is opened.
  int const again = diag::regular_file::open((workdir_ / ".lock").c_str(), O_RDONLY | O_NOFOLLOW);
  if (again < 0) return;
  std::string const other = read_holder(again);
  ::close(again);
  if (other.empty() || other == holder_) return;
  throw error(exit_code::usage, "the working directory " + workdir_.string() + " is in use by two runs: " +
                                    (holder_.empty() ? "this one" : holder_) + ", and later " + other +
                                    ", because its file system does not show locks to other hosts. This run ends "
                                    "without another checkpoint. Give one of the two another --workdir.");
}

REDCO_INLINE std::string workdir_lock::read_holder(int descriptor) {
  std::array<char, 512> text{};
  ::ssize_t const got = ::pread(descriptor, text.data(), text.size(), 0);
  std::string holder(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder;
}

}  // namespace redco::workdir
