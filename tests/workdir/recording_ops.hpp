#pragma once

#include <redco/safetensors/file_ops.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ckpt_test {

/// File operations that call the real functions and record the calls of all ranks with paths
/// relative to `root`. They can refuse to swap names, write in small interrupted pieces, and fail
/// from a chosen call on.
class recording_ops {
 public:
  explicit recording_ops(std::filesystem::path root) : root_(std::move(root)) {}

  std::vector<std::string> log;
  bool can_exchange = true;
  std::size_t most_per_write = std::size_t{1} << 30;
  bool interrupted = false;   ///< every second write fails with EINTR
  int fail_at = -1;           ///< number of the call that fails, counted from 0
  bool fail_for_ever = true;  ///< all later calls fail too
  int failure = ENOSPC;
  std::string fail_on;  ///< beginning of the recorded line of calls that fail
  /// Function that is called for each recorded line.
  std::function<void(std::string const& line)> on_call;

  int make_directory(char const* path) { return note("mkdir " + name(path)) ? disk_.make_directory(path) : -1; }
  int create(char const* path) {
    if (!note("create " + name(path))) return -1;
    int const file = disk_.create(path);
    std::lock_guard const lock(mutex_);
    files_[file] = name(path);
    return file;
  }
  ::ssize_t write(int file, void const* bytes, std::size_t count) {
    if (interrupted && ++writes_ % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    return note("write " + open(file)) ? disk_.write(file, bytes, std::min(count, most_per_write)) : -1;
  }
  int sync(int file) { return note("sync " + open(file)) ? disk_.sync(file) : -1; }
  int close(int file) {
    bool const goes = note("close " + open(file));
    return disk_.close(file) == 0 && goes ? 0 : -1;
  }
  int rename(char const* from, char const* to) {
    return note("rename " + name(from) + " " + name(to)) ? disk_.rename(from, to) : -1;
  }
  int exchange(char const* a, char const* b) {
    if (!can_exchange) {
      errno = EINVAL;
      return -1;
    }
    return note("exchange " + name(a) + " " + name(b)) ? disk_.exchange(a, b) : -1;
  }
  int make_link(char const* target, char const* path) {
    return note(std::string("link ") + target + " " + name(path)) ? disk_.make_link(target, path) : -1;
  }
  int remove_file(char const* path) { return note("remove " + name(path)) ? disk_.remove_file(path) : -1; }
  int remove_directory(char const* path) { return note("rmdir " + name(path)) ? disk_.remove_directory(path) : -1; }
  int sync_directory(char const* path) { return note("syncdir " + name(path)) ? disk_.sync_directory(path) : -1; }

 private:
  std::string name(std::filesystem::path const& path) const {
    auto const text = path.lexically_relative(root_).string();
    return text == "." ? "" : text;
  }
  std::string open(int file) {
    std::lock_guard const lock(mutex_);
    return files_[file];
  }
  bool note(std::string line) {
    std::lock_guard const lock(mutex_);
    int const number = static_cast<int>(log.size());
    bool const fails = (fail_at >= 0 && (number == fail_at || (fail_for_ever && number > fail_at))) ||
                       (!fail_on.empty() && line.starts_with(fail_on));
    if (on_call) on_call(line);
    log.push_back(std::move(line));
    if (fails) errno = failure;
    return !fails;
  }

  redco::safetensors::posix_file_ops disk_;
  std::filesystem::path root_;
  std::mutex mutex_;
  std::map<int, std::string> files_;
  std::atomic<int> writes_ = 0;
};

}  // namespace ckpt_test
