#pragma once

#include <redco/diag/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace redco::diag {

/// A set of functions that open files whose path comes from the user. Opens only regular files,
/// because opening a FIFO can block and a device has no end.
struct regular_file {
  /// Opens a regular file with the arguments of ::open and returns its descriptor. Returns -1 and
  /// sets errno if the file cannot be opened or is not regular; why_not(errno) is the message.
  static int open(char const* path, int flags, ::mode_t mode = 0) {
    int const file = ::open(path, flags | O_CLOEXEC | O_NONBLOCK, mode);
    if (file < 0) {
      // A FIFO without a reader, a socket, a directory
      if (errno == ENXIO || errno == EISDIR) errno = EINVAL;
      return -1;
    }
    struct stat facts {};
    if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) return file;
    ::close(file);
    errno = EINVAL;
    return -1;
  }

  static std::string why_not(int cause) {
    return cause == EINVAL  ? "it is not a regular file"
           : cause == ELOOP ? "it is a symbolic link"
                            : std::strerror(cause);
  }
};

/// Policy for symbolic links when a file is opened. Cached weights are often symbolic links; files
/// of a checkpoint never are.
enum class links : bool { refused, followed };

/// A regular file, open for reading at any position. Reads with pread and never maps the file:
/// truncation of a mapped file raises SIGBUS, but truncation during pread is an error.
///
/// Throws `error` with exit code 65 if the file is missing, not regular or too short. Throws 74 if
/// the system cannot read the file.
class input_file {
 public:
  explicit input_file(std::filesystem::path path, links policy = links::followed) : path_(std::move(path)) {
    descriptor_ = regular_file::open(path_.c_str(), O_RDONLY | (policy == links::refused ? O_NOFOLLOW : 0));
    if (descriptor_ < 0) {
      int const cause = errno;
      bool const data = cause == ENOENT || cause == ENOTDIR || cause == ELOOP || cause == EINVAL;
      fail(data ? exit_code::data : exit_code::io, regular_file::why_not(cause));
    }
    struct stat facts {};
    if (::fstat(descriptor_, &facts) == 0) size_ = static_cast<std::uint64_t>(facts.st_size);
  }

  input_file(input_file&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_),
        bytes_read_(other.bytes_read()) {}
  input_file& operator=(input_file&&) = delete;
  ~input_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  std::filesystem::path const& path() const { return path_; }

  /// Returns the size of the file in bytes at the time of opening.
  std::uint64_t size() const { return size_; }

  /// Returns the number of bytes that all threads have read from the file so far.
  std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

  /// Fills `target` with the bytes of the file from byte `position` on. Threads may call this
  /// function concurrently.
  void read(std::uint64_t position, std::span<std::byte> target) const {
    while (!target.empty()) {
      ::ssize_t const got = ::pread(descriptor_, target.data(), target.size(), static_cast<::off_t>(position));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(exit_code::io, std::strerror(errno));
      if (got == 0)
        fail(exit_code::data, "it ends at byte " + std::to_string(position) + ", it was cut while being read");
      position += static_cast<std::uint64_t>(got);
      bytes_read_.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
      target = target.subspan(static_cast<std::size_t>(got));
    }
  }

  /// Returns the whole file as text. Throws `error` with exit code 65 if the file is larger than
  /// `most` bytes.
  std::string text(std::uint64_t most) const {
    if (size_ > most)
      fail(exit_code::data,
           "it has " + std::to_string(size_) + " bytes, more than the " + std::to_string(most) + " allowed");
    std::string content(static_cast<std::size_t>(size_), '\0');
    read(0, std::as_writable_bytes(std::span(content)));
    return content;
  }

 private:
  [[noreturn]] void fail(exit_code code, std::string const& why) const {
    throw error(code, "cannot read " + path_.string() + ": " + why + ". Check the path, or take another file.");
  }

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace redco::diag
