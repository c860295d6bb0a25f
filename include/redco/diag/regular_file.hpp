#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace redco::diag
