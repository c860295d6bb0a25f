#pragma once

#include <redco/workdir/failure_history.hpp>

#include <redco/log/append_file.hpp>
#include <redco/config.hpp>

#include <charconv>
#include <cstddef>
#include <fstream>
#include <system_error>

namespace redco::workdir::detail {

/// The starts of runs in a row that have not reached their first step.
struct vain_starts {
  std::int64_t number = 0;
  std::string last;  ///< message of the last one; empty if it was killed
};

/// Reads the file of starts: a line "start", then a line "failed MESSAGE", or "stopped" after a
/// signal.
inline vain_starts read_starts(std::filesystem::path const& file) {
  vain_starts found;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return found;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line == "start") found = {found.number + 1, ""};
    else if (line == "stopped") --found.number;
    else if (line.starts_with("failed ")) found.last = line.substr(7);
  }
  return found;
}

inline void empty_file(std::filesystem::path const& file) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) std::filesystem::resize_file(file, 0, ignored);
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

REDCO_INLINE void failure_history::add(std::int64_t step, std::string const& reason) const {
  log::append_file(file_).append(std::to_string(step) + " " + reason.substr(0, reason.find('\n')) + "\n");
}

REDCO_INLINE void failure_history::clear() const { detail::empty_file(file_); }

REDCO_INLINE std::string failure_history::repeated() const {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file_, ignored)) return {};
  std::ifstream lines(file_);
  std::int64_t last = -1, times = 0;
  std::string reason;
  for (std::string line; std::getline(lines, line);) {
    std::int64_t step = 0;
    auto const [rest, failure] = std::from_chars(line.data(), line.data() + line.size(), step);
    if (failure != std::errc{}) continue;
    times = step == last ? times + 1 : 1;
    last = step;
    reason = line.substr(static_cast<std::size_t>(rest - line.data()));
  }
  if (times < 2) return {};
  return "the last " + std::to_string(times) + " runs here failed at step " + std::to_string(last) +
         ", the last with:" + reason + ". Correct what that names: the same step will come again";
}

REDCO_INLINE std::string failure_history::begin_start() const {
  detail::vain_starts const before = detail::read_starts(starts_);
  log::append_file(starts_).append("start\n");
  if (before.number < 3) return {};
  return "the last " + std::to_string(before.number) + " starts here ended before their first step, the last " +
         (before.last.empty() ? "without a message (killed, or out of memory?)" : "with: " + before.last) +
         ". Correct that: this start will end there too";
}

REDCO_INLINE std::string failure_history::end_start(exit_code code, std::string const& reason) const {
  if (detail::read_starts(starts_).number == 0) return {};
  if (code == exit_code::done) {
    forget_starts();
    return {};
  }
  bool const stopped = code == exit_code::preempted;
  log::append_file(starts_).append((stopped ? "stopped" : "failed " + reason.substr(0, reason.find('\n'))) + "\n");
  std::int64_t const number = stopped ? 0 : detail::read_starts(starts_).number;
  return number < 3 ? "" : "starts   " + std::to_string(number) + " in a row ended before their first step";
}

REDCO_INLINE void failure_history::forget_starts() const { detail::empty_file(starts_); }

}  // namespace redco::workdir
