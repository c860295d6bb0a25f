#pragma once

#include <redco/run/detail/text.hpp>

#include <cctype>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace redco {

/// What a console writes to and what that can show.
struct console_options {
  std::ostream* out = &std::cout;
  bool terminal = false;                             ///< can redraw a line; else there are only plain lines
  bool utf8 = false;                                 ///< shows block characters
  std::function<int()> columns = [] { return 80; };  ///< asked before every redraw: windows change
};

/// Options for standard output: a terminal unless it is piped, NO_COLOR is set, TERM is dumb or `quiet`; UTF-8 by
/// LC_ALL, LC_CTYPE, LANG, the first that is set.
inline console_options standard_console(bool quiet = false) {
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
  options.terminal = !plain && ::isatty(STDOUT_FILENO) == 1;
  options.utf8 = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  options.columns = [] {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? static_cast<int>(size.ws_col) : 80;
  };
  return options;
}

/// Lines, and on a terminal one status line kept below them. Thread-safe: whoever prints, no line is torn and the
/// status line comes back. The cursor is never hidden, so a killed run leaves a usable terminal; the end leaves it on a
/// fresh line. Failures to write are ignored: they must not stop a run.
class console {
 public:
  explicit console(console_options options = standard_console()) : options_(std::move(options)) {}
  console(console const&) = delete;
  console& operator=(console const&) = delete;
  ~console() { keep_status(); }

  bool terminal() const { return options_.terminal; }
  bool utf8() const { return options_.utf8; }

  /// Columns that a status line may use; the last one stays free, as some terminals wrap there.
  int width() const {
    int const columns = options_.columns();
    return columns > 1 ? columns - 1 : 1;
  }

  /// Prints `text` (without final line feed) above the status line.
  void print(std::string_view text) {
    std::scoped_lock lock(mutex_);
    std::string const erase = status_.empty() ? "" : "\r\x1b[K";
    write(erase + std::string(text) + "\n" + status_);
  }

  /// Replaces the status line by `text`, cut to the width; empty removes it. Without a terminal nothing happens.
  void status(std::string_view text) {
    if (!options_.terminal) return;
    std::scoped_lock lock(mutex_);
    if (text.empty() && status_.empty()) return;
    status_ = detail::fit(text, static_cast<std::size_t>(width()));
    write("\r" + status_ + "\x1b[K");
  }

  /// Makes the status line an ordinary line.
  void keep_status() {
    std::scoped_lock lock(mutex_);
    if (!status_.empty()) write("\n");
    status_.clear();
  }

 private:
  void write(std::string_view text) {
    options_.out->clear();
    options_.out->write(text.data(), static_cast<std::streamsize>(text.size()));
    options_.out->flush();
  }

  std::mutex mutex_;
  console_options options_;
  std::string status_;
};

}  // namespace redco
