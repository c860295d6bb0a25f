#pragma once

#include <concepts>
#include <cstddef>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redco::safetensors {

/// A set of the system calls that change files. Functions return 0 (or a count or a descriptor) on
/// success, and -1 with errno on failure. Code that saves files takes this type as a template
/// parameter. Tests pass another type that records calls, makes them fail, or loses unsynced data.
struct posix_file_ops {
  int make_directory(char const* path) { return ::mkdir(path, 0777); }
  /// Creates a new file for writing; fails if the file exists.
  int create(char const* path) { return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }
  ::ssize_t write(int file, void const* bytes, std::size_t count) { return ::write(file, bytes, count); }
  int sync(int file) { return ::fsync(file); }
  int close(int file) { return ::close(file); }
  int rename(char const* from, char const* to) { return ::rename(from, to); }
  /// Exchanges the files of two names atomically. Fails if the file system does not support it.
  int exchange(char const* a, char const* b) { return ::renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE); }
  int make_link(char const* target, char const* path) { return ::symlink(target, path); }
  int remove_file(char const* path) { return ::unlink(path); }
  int remove_directory(char const* path) { return ::rmdir(path); }
  int sync_directory(char const* path) {
    int const directory = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    int const result = ::fsync(directory);
    ::close(directory);
    return result;
  }
};

/// A type with all members of `posix_file_ops` (system calls that change files), so that tests can
/// replace the system calls.
template <class T>
concept file_ops = requires(T ops, char const* path, int file, void const* bytes, std::size_t count) {
  { ops.make_directory(path) } -> std::same_as<int>;
  { ops.create(path) } -> std::same_as<int>;
  { ops.write(file, bytes, count) } -> std::same_as<::ssize_t>;
  { ops.sync(file) } -> std::same_as<int>;
  { ops.close(file) } -> std::same_as<int>;
  { ops.rename(path, path) } -> std::same_as<int>;
  { ops.exchange(path, path) } -> std::same_as<int>;
  { ops.make_link(path, path) } -> std::same_as<int>;
  { ops.remove_file(path) } -> std::same_as<int>;
  { ops.remove_directory(path) } -> std::same_as<int>;
  { ops.sync_directory(path) } -> std::same_as<int>;
};

}  // namespace redco::safetensors
