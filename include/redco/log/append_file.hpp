#pragma once

#include <redco/diag/input_file.hpp>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redco::log {

/// A log file to which whole records (such as lines) are appended. A failed write never throws and
/// leaves no partial record. Lost records are counted; the first loss is reported to a callback,
/// and later records are tried again. Not thread-safe: the owner must lock.
class append_file {
 public:
  using warn_function = std::function<void(std::string const&)>;

  explicit append_file(std::filesystem::path path, warn_function warn = {})
      : path_(std::move(path)), warn_(std::move(warn)) {
    open();
  }
  append_file(append_file const&) = delete;
  append_file& operator=(append_file const&) = delete;
  ~append_file() { close(); }

  /// Appends `record` to the file with as many write calls as needed. Returns false if writing
  /// fails; the record is then lost.
  bool append(std::string_view record) {
    if (fd_ < 0 && !open()) return lose();
    off_t const before = ::lseek(fd_, 0, SEEK_END);
    for (std::size_t done = 0; done < record.size();) {
      ssize_t const count = ::write(fd_, record.data() + done, record.size() - done);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
      } else if (count == 0 || errno != EINTR) {
        reason_ = count == 0 ? ENOSPC : errno;
        // If a partial record cannot be cut off, reopen the file for the next record.
        if (done > 0 && before >= 0 && ::ftruncate(fd_, before) != 0) close();
        return lose();
      }
    }
    return true;
  }

  /// Truncates the file to its first `bytes` bytes.
  void cut(std::uintmax_t bytes) {
    if (fd_ >= 0 && ::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) reason_ = errno;
  }

  bool empty() const {
    struct stat facts {};
    return fd_ < 0 || ::fstat(fd_, &facts) != 0 || facts.st_size == 0;
  }

  std::filesystem::path const& path() const { return path_; }
  std::int64_t lost() const { return lost_; }

 private:
  bool open() {
    fd_ = diag::regular_file::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd_ < 0) reason_ = errno;
    return fd_ >= 0;
  }

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  bool lose() {
    if (++lost_ == 1 && warn_) {
      warn_("cannot write " + path_.string() + ": " + diag::regular_file::why_not(reason_) +
            ". The run continues, tries again with every line and counts lost lines: free space or fix permissions.");
    }
    return false;
  }

  std::filesystem::path path_;
  warn_function warn_;
  int fd_ = -1;
  int reason_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace redco::log
