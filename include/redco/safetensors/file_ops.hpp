#pragma once

#include <redco/diag/error.hpp>

#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
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

/// Throws `error` with exit code 74 for a failed system call on `path`. `doing` names the system
/// call in the message, and `cause` is the value of errno after the call.
[[noreturn]] inline void throw_io(std::string_view doing, std::filesystem::path const& path, int cause,
                                  std::string const& more = "") {
  throw error(exit_code::io, "cannot " + std::string(doing) + " " + path.string() + ": " + std::strerror(cause) + more +
                                 ". Free some space or check the permissions; older checkpoints are untouched.");
}

/// A wrapper of `Ops`, a set of file system calls. Its functions take paths and throw `error` with
/// exit code 74 where the system calls return -1.
template <file_ops Ops>
class disk {
 public:
  explicit disk(Ops& ops) : ops_(ops) {}

  Ops& ops() { return ops_; }

  void make_directory(std::filesystem::path const& path) {
    check(ops_.make_directory(path.c_str()), "make the directory", path);
  }
  void rename(std::filesystem::path const& from, std::filesystem::path const& to) {
    check(ops_.rename(from.c_str(), to.c_str()), "rename to", to);
  }
  void make_link(std::string const& target, std::filesystem::path const& path) {
    check(ops_.make_link(target.c_str(), path.c_str()), "make the link", path);
  }
  void sync_directory(std::filesystem::path const& path) {
    check(ops_.sync_directory(path.c_str()), "fsync the directory", path);
  }

  /// Removes a file, a link or a whole directory. Does nothing if `path` does not exist.
  void remove_all(std::filesystem::path const& path) {
    if (std::filesystem::is_directory(std::filesystem::symlink_status(path))) {
      for (auto const& entry : std::filesystem::directory_iterator(path)) remove_all(entry.path());
      check(ops_.remove_directory(path.c_str()), "remove the directory", path);
    } else if (ops_.remove_file(path.c_str()) != 0 && errno != ENOENT) {
      throw_io("remove", path, errno);
    }
  }

 private:
  static void check(int result, std::string_view doing, std::filesystem::path const& path) {
    if (result != 0) throw_io(doing, path, errno);
  }

  Ops& ops_;
};

/// Writes all of `bytes` to `file` in as many system calls as needed. Advances `bytes` past the
/// bytes written. Returns 0, or the errno of the failed call. Returns ENOSPC if a call writes
/// nothing without an error, because repeating the call would never end.
template <file_ops Ops>
int write_all(Ops& ops, int file, std::span<std::byte const>& bytes) {
  while (!bytes.empty()) {
    ::ssize_t const put = ops.write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 ? errno : ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace redco::safetensors
