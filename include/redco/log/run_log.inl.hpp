#pragma once

#include <redco/log/run_log.hpp>

#include <redco/log/text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <ctime>

namespace redco::log {

REDCO_INLINE run_log::run_log(console& where, std::optional<std::filesystem::path> const& file, clock_function now)
    : console_(&where), now_(std::move(now)) {
  if (file) open(*file);
}

REDCO_INLINE void run_log::open(std::filesystem::path const& file) {
  std::scoped_lock lock(mutex_);
  file_.emplace(file, [this](std::string const& text) { console_->print("warning: " + text); });
  if (!early_.empty() && !file_->append(early_)) lost_ += std::count(early_.begin(), early_.end(), '\n');
  early_.clear();
}

REDCO_INLINE void run_log::line(std::string_view text) {
  console_->print(text);
  to_file(text);
  if (!console_->lost() || warned_of_lost_lines_.exchange(true)) return;
  {
    std::scoped_lock lock(mutex_);
    ++warnings_;
  }
  to_file("warning: the console cannot be written (a closed pipe, a full disk); the run continues, its lines are here");
}

REDCO_INLINE void run_log::warning(std::string_view text) {
  {
    std::scoped_lock lock(mutex_);
    ++warnings_;
  }
  line("warning: " + std::string(text));
}

REDCO_INLINE void run_log::banner(std::string_view title, std::optional<std::int64_t> step, std::string_view text) {
  std::string block = "### " + std::string(title) + (step ? " (step " + std::to_string(*step) + ")" : "");
  std::string const rule(std::clamp<std::size_t>(columns(block), 20, 78), '-');
  block = rule + "\n" + block + "\n" + rule;
  if (!text.empty()) block += "\n" + std::string(text);
  line(block);
}

REDCO_INLINE void run_log::to_file(std::string_view text) {
  std::scoped_lock lock(mutex_);
  std::string const time = stamp();
  std::string lines;
  std::int64_t count = 0;
  for (bool more = true; more; ++count) {
    std::size_t const end = text.find('\n');
    more = end != std::string_view::npos;
    lines += time + std::string(text.substr(0, end)) + "\n";
    if (more) text.remove_prefix(end + 1);
  }
  constexpr std::size_t most_early = 1 << 20;
  if (!file_) {
    if (early_.size() + lines.size() <= most_early) early_ += lines;
  } else if (!file_->append(lines)) {
    lost_ += count;
  }
}

REDCO_INLINE std::string run_log::stamp() const {
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

}  // namespace redco::log
