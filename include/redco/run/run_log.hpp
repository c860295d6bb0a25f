#pragma once

#include <redco/run/console.hpp>
#include <redco/run/detail/append_file.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace redco {

/// The log of a run: lines on the console and, with their time (UTC), at the end of a file, which every line has
/// reached before the call returns. A line that the file cannot take is counted, the first one told on the console;
/// logging never stops a run. Thread-safe.
class run_log {
 public:
  using clock_function = std::function<std::chrono::system_clock::time_point()>;

  /// Logs to `where` and, where `file` is given, to it (`workdir/log.txt`).
  explicit run_log(console& where, std::optional<std::filesystem::path> const& file = {},
                   clock_function now = std::chrono::system_clock::now)
      : console_(&where), now_(std::move(now)) {
    if (file) file_.emplace(*file, [this](std::string const& text) { console_->print("warning: " + text); });
  }

  /// One line, or several.
  void line(std::string_view text) {
    console_->print(text);
    to_file(text);
  }

  /// Lines for the file alone.
  void quiet_line(std::string_view text) { to_file(text); }

  /// A line that begins with "warning: " and counts.
  void warning(std::string_view text) {
    {
      std::scoped_lock lock(mutex_);
      ++warnings_;
    }
    line("warning: " + std::string(text));
  }

  /// `### title (step 1200)` between rules, then `text`: a sample, a result.
  void banner(std::string_view title, std::optional<std::int64_t> step = {}, std::string_view text = {}) {
    std::string block = "### " + std::string(title) + (step ? " (step " + std::to_string(*step) + ")" : "");
    std::string const rule(std::clamp<std::size_t>(detail::columns(block), 20, 78), '-');
    block = rule + "\n" + block + "\n" + rule;
    if (!text.empty()) block += "\n" + std::string(text);
    line(block);
  }

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
  void to_file(std::string_view text) {
    std::scoped_lock lock(mutex_);
    if (!file_) return;
    std::string const time = stamp();
    std::string lines;
    std::int64_t count = 0;
    for (bool more = true; more; ++count) {
      std::size_t const end = text.find('\n');
      more = end != std::string_view::npos;
      lines += time + std::string(text.substr(0, end)) + "\n";
      if (more) text.remove_prefix(end + 1);
    }
    if (!file_->append(lines)) lost_ += count;
  }

  std::string stamp() const {
    using namespace std::chrono;
    auto const milliseconds = duration_cast<std::chrono::milliseconds>(now_().time_since_epoch()).count();
    std::time_t const seconds = milliseconds / 1000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32] = {};
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    std::string const fraction = std::to_string(1000 + milliseconds % 1000);
    return std::string(text) + "." + fraction.substr(1) + "Z ";
  }

  mutable std::mutex mutex_;
  console* console_;
  clock_function now_;
  std::optional<detail::append_file> file_;
  std::int64_t warnings_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace redco
