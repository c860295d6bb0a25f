#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redco::diag {

/// How a file is opened whose name may stand for anything: only where it is a regular one. A FIFO waits for its other end
/// for ever, and a device has no end.
struct regular_file {
  /// As ::open. -1, and for `why_not` the cause in errno, where it cannot be opened or is no regular file.
  static int open(char const* path, int flags, ::mode_t mode = 0) {
    int const file = ::open(path, flags | O_CLOEXEC | O_NONBLOCK, mode);
    if (file < 0) {
      if (errno == ENXIO || errno == EISDIR) errno = EINVAL;  // a FIFO nobody reads, a socket, a directory
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

}  // namespace redco::diag
