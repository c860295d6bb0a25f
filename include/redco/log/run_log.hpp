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

namespace redco::log {

/// A log of a run that writes lines to the console and, with their time (UTC), to the end of a
/// file. Every line reaches the file before the call returns. Lines that the file cannot take are
/// counted, and the first one is reported on the console. Logging never stops a run. If the console
/// fails, the file says so once. Thread-safe.
class run_log {
 public:
  using clock_function = std::function<std::chrono::system_clock::time_point()>;

  /// Creates a log that writes to `where` and, if given, to `file` (`workdir/log.txt`).
  explicit run_log(console& where, std::optional<std::filesystem::path> const& file = {},
                   clock_function now = std::chrono::system_clock::now);

  /// Writes lines to `file` from now on. First writes the lines (at most 1 MiB) that were logged
  /// while there was no file.
  void open(std::filesystem::path const& file);

  /// Logs one line or several lines.
  void line(std::string_view text);

  /// Logs lines to the file only.
  void quiet_line(std::string_view text) { to_file(text); }

  /// Logs a line that begins with "warning: ", and counts it.
  void warning(std::string_view text);

  /// Logs `### title (step 1200)` between rules, then `text`, such as a sample or a result.
  void banner(std::string_view title, std::optional<std::int64_t> step = {}, std::string_view text = {});

  std::int64_t warnings() const {
    std::scoped_lock lock(mutex_);
    return warnings_;
  }

  /// Returns the number of lines that did not reach the file.
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
  std::string early_;  ///< lines that were logged before there was a file
  std::int64_t warnings_ = 0;
  std::int64_t lost_ = 0;
  std::atomic<bool> console_told_ = false;
};

}  // namespace redco::log

#ifndef REDCO_COMPILED
#include <redco/log/run_log.inl.hpp>
#endif
