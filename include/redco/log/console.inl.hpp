#pragma once

#include <redco/log/console.hpp>

#include <redco/log/text.hpp>
#include <redco/config.hpp>

#include <cctype>
#include <cstddef>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace redco::log {

REDCO_INLINE console_options standard_console(bool quiet) {
  auto variable = [](char const* name) {
    char const* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::string locale;
  for (char const* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = variable(name);
  }
  for (char& letter : locale) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  console_options options;
  bool const plain = quiet || !variable("NO_COLOR").empty() || variable("TERM") == "dumb";
  options.terminal = !plain && ::isatty(STDERR_FILENO) == 1;
  options.utf8 = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  options.columns = [] {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? static_cast<int>(size.ws_col) : 80;
  };
  return options;
}

REDCO_INLINE void console::print(std::string_view text) {
  std::scoped_lock lock(mutex_);
  std::string const erase = status_.empty() ? "" : "\r\x1b[K";
  write(erase + std::string(text) + "\n" + status_);
}

REDCO_INLINE void console::status(std::string_view text) {
  if (!options_.terminal) return;
  std::scoped_lock lock(mutex_);
  if (text.empty() && status_.empty()) return;
  status_ = fit(text, static_cast<std::size_t>(width()));
  write("\r" + status_ + "\x1b[K");
}

REDCO_INLINE void console::keep_status() {
  std::scoped_lock lock(mutex_);
  if (!status_.empty()) write("\n");
  status_.clear();
}

REDCO_INLINE void console::write(std::string_view text) {
  if (options_.out == nullptr) return;
  options_.out->clear();
  options_.out->write(text.data(), static_cast<std::streamsize>(text.size()));
  options_.out->flush();
  if (!*options_.out) lost_ = true;
}

}  // namespace redco::log
