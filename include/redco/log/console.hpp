#pragma once

#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace redco::log {

/// What a console writes to and what that can show.
struct console_options {
  std::ostream* out = &std::cerr;                    ///< null: nothing is shown
  bool terminal = false;                             ///< can redraw a line; else there are only plain lines
  bool utf8 = false;                                 ///< shows block characters
  std::function<int()> columns = [] { return 80; };  ///< asked before every redraw: windows change
};

/// Options for standard error, so that standard output has results alone: a terminal unless it is
/// piped, NO_COLOR is set, TERM is dumb or `quiet`; UTF-8 by LC_ALL, LC_CTYPE, LANG, the first that
/// is set.
console_options standard_console(bool quiet = false);

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

  /// Whether something could not be written.
  bool lost() const { return lost_; }

  /// Columns that a status line may use; the last one stays free, as some terminals wrap there.
  int width() const {
    int const columns = options_.columns();
    return columns > 1 ? columns - 1 : 1;
  }

  /// Prints `text` (without final line feed) above the status line.
  void print(std::string_view text);

  /// Replaces the status line by `text`, cut to the width; empty removes it. Without a terminal nothing happens.
  void status(std::string_view text);

  /// Makes the status line an ordinary line.
  void keep_status();

 private:
  void write(std::string_view text);

  std::mutex mutex_;
  console_options options_;
  std::string status_;
  std::atomic<bool> lost_ = false;
};

}  // namespace redco::log

#ifndef REDCO_COMPILED
#include <redco/log/console.inl.hpp>
#endif
