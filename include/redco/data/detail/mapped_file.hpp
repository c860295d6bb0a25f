#pragma once

#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace redco::data::detail {

/// A regular file, mapped for reading. Threads may read the bytes concurrently. A program that cuts
/// the file during this object's lifetime ends the reading process by SIGBUS; a program that
/// replaces the file by rename does no harm. Throws `error` with exit code 65 if the file is
/// missing or not regular, and with 74 if the system cannot map it.
class mapped_file {
 public:
  explicit mapped_file(std::filesystem::path path) : path_(std::move(path)) {
    int const file = diag::regular_file::open(path_.c_str(), O_RDONLY);
    if (file < 0) fail(errno);
    struct stat facts {};
    int cause = ::fstat(file, &facts) == 0 ? 0 : errno;
    size_ = static_cast<std::size_t>(facts.st_size);
    if (cause == 0 && size_ > 0) {
      begin_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
      if (begin_ == MAP_FAILED) cause = errno;
    }
    ::close(file);
    if (cause != 0) fail(cause);
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  ~mapped_file() {
    if (size_ > 0) ::munmap(begin_, size_);
  }

  std::filesystem::path const& path() const { return path_; }
  std::span<std::byte const> bytes() const { return {static_cast<std::byte const*>(begin_), size_}; }

  /// Announces that pages are read in random order, so that the system reads no pages ahead.
  void expect_random_access() const {
    if (size_ > 0) ::madvise(begin_, size_, MADV_RANDOM);
  }

  /// Removes the pages of an interval of bytes from the resident memory of this process. The bytes
  /// stay readable, and in the system's page cache. Requires begin + size <= bytes().size().
  void release(std::size_t begin, std::size_t size) const {
    // A read maps cached pages around it too, 64 KiB or a huge page.
    constexpr std::size_t mapped_at_once = std::size_t{2} << 20;
    auto const base = reinterpret_cast<std::uintptr_t>(begin_);
    std::uintptr_t const first = std::max(base, (base + begin) / mapped_at_once * mapped_at_once);
    std::uintptr_t const last = ((base + begin + size - 1) / mapped_at_once + 1) * mapped_at_once;
    if (size > 0) ::madvise(reinterpret_cast<void*>(first), std::min(last, base + size_) - first, MADV_DONTNEED);
  }

 private:
  [[noreturn]] void fail(int cause) const {
    bool const data = cause == ENOENT || cause == ENOTDIR || cause == ELOOP || cause == EINVAL;
    throw error(data ? exit_code::data : exit_code::io, "cannot read " + path_.string() + ": " +
                                                            diag::regular_file::why_not(cause) +
                                                            ". Check the path, or take another file.");
  }

  std::filesystem::path path_;
  void* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace redco::data::detail
