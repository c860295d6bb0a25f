#pragma once

#include <redco/log/append_file.hpp>
#include <redco/log/console.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::log {

/// A log of a training run. Writes lines to the console and, with the time in UTC, to the end of a
/// file. Every line is passed to the system before the call returns. Lines that cannot be written
/// to the file are counted, and the first one is reported on the console. Logging never stops a
/// run. If writing to the console fails, the file says so once. Thread-safe.
class run_log {
 public:
  using clock_function = std::function<std::chrono::system_clock::time_point()>;

  /// Creates a log that writes lines to the console `where` and, if given, to `file`, usually
  /// `workdir/log.txt`.
  explicit run_log(console& where, std::optional<std::filesystem::path> const& file = {},
                   clock_function now = std::chrono::system_clock::now);

  /// Opens `file` and writes all lines to it from now on. First writes earlier lines (at most 1
  /// MiB), which were logged while the log had no file.
  void open(std::filesystem::path const& file);

  /// Writes `text`, one line or several lines, to the console and to the file of the log.
  void line(std::string_view text);

  /// Writes `text`, one line or several lines, to the file of the log but not to the console.
  void quiet_line(std::string_view text) { to_file(text); }

  /// Logs a line that begins with "warning: " and increments the log's number of warnings.
  void warning(std::string_view text);

  /// Logs a title such as `### sample (step 1200)` between two horizontal lines of dashes, followed
  /// by `text`. For samples and results.
  void banner(std::string_view title, std::optional<std::int64_t> step = {}, std::string_view text = {});

  std::int64_t warnings() const {
    std::scoped_lock lock(mutex_);
    return warnings_;
  }

  /// Returns the number of lines that could not be written to the file of the log.
  std::int64_t lost() const {
    std::scoped_lock lock(mutex_);
    return lost_;
  }

 private:
  void to_file(std::string_view text);

  std::string stamp() const;

  mutable std::mutex mutex_;
  console* console_;
  clock_function now_;
  std::optional<append_file> file_;
  std::string early_;  ///< Lines that were logged before the log had a file
  std::int64_t warnings_ = 0;
  std::int64_t lost_ = 0;
  std::atomic<bool> warned_of_lost_lines_ = false;
};

/// Returns a sentence about keys of a configuration file that have no effect, such as "config.json:
/// use_cache, torchscript change nothing here".
inline std::string unused_text(std::string_view file, std::vector<std::string> const& keys) {
  std::string text(file);
  for (std::string const& key : keys) text += (&key == &keys.front() ? ": " : ", ") + key;
  return text + (keys.size() == 1 ? " changes" : " change") + " nothing here";
}

/// Logs one line that lists the keys of a configuration file that have no effect. Does nothing if
/// `keys` is empty.
inline void list_unused(run_log& log, std::string_view file, std::vector<std::string> const& keys) {
  if (!keys.empty()) log.line(unused_text(file, keys));
}

}  // namespace redco::log

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/log/run_log.inl.hpp>
#endif
