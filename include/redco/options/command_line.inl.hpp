#pragma once

#include <redco/options/command_line.hpp>

#include <redco/config.hpp>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace redco::options {

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

}  // namespace redco::options

namespace redco::options::detail {

/// Splits a shell command into words and keeps the quotes.
inline std::vector<std::string> shell_words(std::string const& command) {
  std::vector<std::string> found(1);
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    char const c = command[i];
    if (quote == 0 && c == ' ') {
      if (!found.back().empty()) found.emplace_back();
      continue;
    }
    found.back() += c;
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      found.back() += command[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    }
  }
  return found;
}

}  // namespace redco::options::detail

namespace redco::options {

REDCO_INLINE std::string resume_command() {
  std::string command;
  bool skip = false;
  for (std::string const& word : detail::shell_words(command_line())) {
    bool const value = std::exchange(skip, word == "--resume");
    if (!value && !skip && !word.starts_with("--resume=")) command += word + " ";
  }
  return command + "--resume auto";
}

}  // namespace redco::options
