#pragma once

#include <redco/workdir/failure_history.hpp>

#include <redco/log/append_file.hpp>
#include <redco/config.hpp>

#include <charconv>
#include <cstddef>
#include <fstream>
#include <system_error>

namespace redco::workdir {

REDCO_INLINE void failure_history::add(std::int64_t step, std::string const& reason) const {
  log::append_file(file_).append(std::to_string(step) + " " + reason.substr(0, reason.find('\n')) + "\n");
}

REDCO_INLINE void failure_history::clear() const {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file_, ignored)) std::filesystem::resize_file(file_, 0, ignored);
}

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

}  // namespace redco::workdir
