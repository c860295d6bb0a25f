#pragma once

#include <redco/safetensors/file_ops.hpp>

#include <redco/diag/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

namespace redco::safetensors {

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

}  // namespace redco::safetensors
