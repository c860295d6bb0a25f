#pragma once

#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace redco::log {

/// A set of options of a console: its output stream and the abilities of this stream.
struct console_options {
  std::ostream* out = &std::cerr;  ///< Output stream of the console; null: no output
  bool terminal = false;           ///< True if the output stream can redraw a line
  bool utf8 = false;               ///< True if the output stream can show Unicode block characters
  /// Function that returns the number of columns of the terminal. Called before every redraw,
  /// because users resize windows.
  std::function<int()> columns = [] { return 80; };
};

/// Returns the console options for standard error; standard output is reserved for results.
/// Standard error counts as a terminal unless it is redirected, NO_COLOR is set, TERM is "dumb", or
/// `quiet` is true. The first of LC_ALL, LC_CTYPE and LANG that is set decides whether it takes
/// UTF-8.
console_options standard_console(bool quiet = false);

/// A writer of lines and, on a terminal, of one status line below all other lines. Thread-safe:
/// each line is written as a whole, and the status line reappears after each print. The cursor is
/// never hidden, so that a killed program leaves a usable terminal. The destructor moves to a new
/// line. Write errors are ignored, because they must not stop a training run.
class console {
 public:
  explicit console(console_options options = standard_console()) : options_(std::move(options)) {}
  console(console const&) = delete;
  console& operator=(console const&) = delete;
  ~console() { keep_status(); }

  bool terminal() const { return options_.terminal; }
  bool utf8() const { return options_.utf8; }

  /// Returns true if a write to the console has failed.
  bool lost() const { return lost_; }

  /// Returns the number of columns that the status line may use. The last column of the terminal
  /// stays free, because some terminals wrap there.
  int width() const {
    int const columns = options_.columns();
    return columns > 1 ? columns - 1 : 1;
  }

  /// Prints `text`, which has no final line feed, as lines above the status line.
  void print(std::string_view text);

  /// Replaces the status line (the last line on a terminal) by `text`, cut to the width of the
  /// terminal. An empty text removes the status line. Does nothing if the output is no terminal.
  void status(std::string_view text);

  /// Turns the status line into an ordinary line, which later status lines do not overwrite.
  void keep_status();

 private:
  void write(std::string_view text);

  std::mutex mutex_;
  console_options options_;
  std::string status_;
  std::atomic<bool> lost_ = false;
};

}  // namespace redco::log

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/log/console.inl.hpp>
#endif
