#pragma once

#include <redco/log/console.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

// A terminal that understands line feed, carriage return and "erase to the end of the line".
struct fake_terminal {
  std::ostringstream out;
  int columns = 100;

  redco::log::console_options options(bool utf8 = true) {
    redco::log::console_options result;
    result.out = &out;
    result.terminal = true;
    result.utf8 = utf8;
    result.columns = [this] { return columns; };
    return result;
  }

  // Returns the text on the screen, which must be wide enough.
  std::string screen() const {
    std::string const written = out.str();
    std::string_view text = written;
    std::string lines, line;
    std::size_t cursor = 0;
    while (!text.empty()) {
      if (text[0] == '\n') {
        lines += line + "\n";
        line.clear();
        cursor = 0;
      } else if (text[0] == '\r') {
        cursor = 0;
      } else if (text.substr(0, 3) == "\x1b[K") {
        line.resize(cursor);
        text.remove_prefix(2);
      } else {
        line.resize(line.size() > cursor ? line.size() : cursor);
        line.replace(cursor, line.size() > cursor ? 1 : 0, 1, text[0]);
        ++cursor;
      }
      text.remove_prefix(1);
    }
    return lines + line;
  }
};
