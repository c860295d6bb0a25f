#pragma once

#include <redco/run/command_line.hpp>

#include <redco/config.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace redco {

REDCO_INLINE std::string command_line() {
  if (char const* const wrapper = std::getenv("REDCO_COMMAND")) return wrapper;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string const raw{std::istreambuf_iterator<char>(file), {}};
  std::string text, word;
  auto const finish = [&] {
    bool const plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-./=:,+@%") == std::string::npos;
    if (!plain) {
      std::string quoted = "'";
      for (char const c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      word = quoted + "'";
    }
    text += (text.empty() ? "" : " ") + word;
    word.clear();
  };
  for (char const c : raw) {
    if (c == '\0') {
      finish();
    } else {
      word += c;
    }
  }
  return text;
}

REDCO_INLINE std::string resume_command() {
  std::string command = command_line();
  std::size_t const at = command.find(" --resume ");
  if (at != std::string::npos) {
    std::size_t const end = command.find(' ', at + 10);
    command.erase(at, end == std::string::npos ? end : end - at);
  }
  return command + " --resume auto";
}

}  // namespace redco
