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

/// The log of a run: lines on the console and, with their time (UTC), at the end of a file, which every line has
/// reached before the call returns. A line that the file cannot take is counted, the first one told on the console;
/// logging never stops a run. The file says once that the console takes nothing more. Thread-safe.
class run_log {
 public:
  using clock_function = std::function<std::chrono::system_clock::time_point()>;

  /// Logs to `where` and, where `file` is given, to it (`workdir/log.txt`).
  explicit run_log(console& where, std::optional<std::filesystem::path> const& file = {},
                   clock_function now = std::chrono::system_clock::now);

  /// Keeps the lines in `file` from now on, behind those (1 MiB at most) that were logged while there was none.
  void open(std::filesystem::path const& file);

  /// One line, or several.
  void line(std::string_view text);

  /// Lines for the file alone.
  void quiet_line(std::string_view text) { to_file(text); }

  /// A line that begins with "warning: " and counts.
  void warning(std::string_view text);

  /// `### title (step 1200)` between rules, then `text`: a sample, a result.
  void banner(std::string_view title, std::optional<std::int64_t> step = {}, std::string_view text = {});

  std::int64_t warnings() const {
    std::scoped_lock lock(mutex_);
    return warnings_;
  }

  /// Lines that did not reach the file.
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
  std::string early_;  ///< lines from before there was a file
  std::int64_t warnings_ = 0;
  std::int64_t lost_ = 0;
  std::atomic<bool> console_told_ = false;
};

}  // namespace redco::log

#ifndef REDCO_COMPILED
#include <redco/log/run_log.inl.hpp>
#endif
