#pragma once

#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace redco::log {

/// A set of options for a console: its stream and the abilities of the stream.
struct console_options {
  std::ostream* out = &std::cerr;  ///< output stream; null: no output
  bool terminal = false;           ///< true if the stream can redraw a line
  bool utf8 = false;               ///< true if the stream can show block characters
  /// Number of columns, requested before every redraw because windows change.
  std::function<int()> columns = [] { return 80; };
};

/// Returns the options for standard error; standard output is reserved for results. Standard error
/// counts as a terminal unless it is piped, NO_COLOR is set, TERM is dumb, or `quiet`. UTF-8 is
/// decided by the first of LC_ALL, LC_CTYPE and LANG that is set.
console_options standard_console(bool quiet = false);

/// A writer of lines and, on a terminal, of one status line below them. Thread-safe: no line is
/// torn, and the status line reappears after each print. The cursor is never hidden, so that a
/// killed run leaves a usable terminal. The destructor moves to a new line. Write errors are
/// ignored, because they must not stop a run.
class console {
 public:
  explicit console(console_options options = standard_console()) : options_(std::move(options)) {}
  console(console const&) = delete;
  console& operator=(console const&) = delete;
  ~console() { keep_status(); }

  bool terminal() const { return options_.terminal; }
  bool utf8() const { return options_.utf8; }

  /// Returns true if a write has failed.
  bool lost() const { return lost_; }

  /// Returns the columns that a status line may use. The last column stays free, because some
  /// terminals wrap there.
  int width() const {
    int const columns = options_.columns();
    return columns > 1 ? columns - 1 : 1;
  }

  /// Prints `text` (without final line feed) above the status line.
  void print(std::string_view text);

  /// Replaces the status line by `text`, cut to the width; an empty text removes it. Does nothing
  /// without a terminal.
  void status(std::string_view text);

  /// Turns the status line into an ordinary line, which stays on the screen.
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
