#pragma once

#include <redco/options/detail/entry.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/nearest.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::options::detail {

/// Contents of a command line before any value is converted.
struct command_line {
  std::vector<std::vector<std::string>> texts;  ///< per entry; empty if the option was not given
  std::optional<std::string> config;
  bool help = false;
};

/// Reads `argv` word by word. A value is never changed: brackets, quotes, commas, `{}` and the empty text stay as they are.
///
///   --name=VALUE    the value is everything after the first '='
///   --name VALUE    the value is the next word, unless that is the name of an option
///   --list A B ...  the first word as above, then all words up to one that starts with "--" and a letter, or is -h
///   --flag, --no-flag, --flag=VALUE
///
/// The last occurrence of an option counts; a list collects all of its occurrences.
class command_line_reader {
 public:
  command_line_reader(std::vector<entry> const& entries, int argc, char const* const* argv) : entries_(entries) {
    for (int i = 1; i < argc; ++i) words_.emplace_back(argv[i]);
    line_.texts.resize(entries.size());
  }

  /// Throws `error` with exit code 64 for unknown options, missing values and words that belong to no option.
  command_line read() {
    while (next_ < words_.size() && !line_.help) read_option(words_[next_++]);
    return line_;
  }

 private:
  /// An option as its name selects it.
  struct selected {
    entry const* of = nullptr;  ///< null for --config, --help and unknown names
    bool negated = false;       ///< --no-NAME
  };

  static bool is_help(std::string_view word) { return word == "-h" || word == "--help"; }

  static std::string_view name_in(std::string_view word) { return word.substr(0, word.find('=')); }

  static bool starts_option(std::string_view word) {
    auto const is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return is_help(word) || (word.starts_with("--") && word.size() > 2 && is_letter(word[2]));
  }

  selected find(std::string_view name) const {
    for (entry const& e : entries_) {
      if (name == e.flag) return {&e};
      if (e.type.is_flag && name == "--no-" + e.flag.substr(2)) return {&e, true};
    }
    return {};
  }

  bool is_known(std::string_view word) const {
    std::string_view const name = name_in(word);
    return is_help(name) || name == "--config" || find(name).of != nullptr;
  }

  void read_option(std::string_view word) {
    std::string_view const name = name_in(word);
    std::optional<std::string> joined;
    if (name.size() < word.size()) joined = word.substr(name.size() + 1);
    selected const option = find(name);
    if (option.of != nullptr) {
      auto& texts = line_.texts[static_cast<std::size_t>(option.of - entries_.data())];
      if (!option.of->type.is_list) texts.clear();
      if (option.of->type.is_flag) texts.push_back(flag_value(option, joined));
      else read_values(*option.of, joined, texts);
    } else if (name == "--config") {
      line_.config = joined ? *joined : next_value("--config", "FILE");
    } else if (is_help(word)) {
      line_.help = true;
    } else {
      refuse(word, name);
    }
  }

  std::string flag_value(selected const& option, std::optional<std::string> const& joined) {
    std::string const& flag = option.of->flag;
    bool const apart = !option.of->type.kind.empty() && next_ < words_.size() && !words_[next_].starts_with('-');
    if (!option.negated) return joined ? *joined : apart ? std::string(words_[next_++]) : "true";
    if (joined || apart)
      throw error(exit_code::usage, "--no-" + flag.substr(2) + " takes no value, but has '" +
                                        (joined ? *joined : std::string(words_[next_])) + "'; give it to " + flag +
                                        ", or leave it out");
    return "false";
  }

  void read_values(entry const& option, std::optional<std::string> const& joined, std::vector<std::string>& texts) {
    texts.push_back(joined ? *joined : next_value(option.flag, option.type.kind));
    while (option.type.is_list && next_ < words_.size() && !starts_option(words_[next_]))
      texts.emplace_back(words_[next_++]);
  }

  std::string next_value(std::string const& flag, std::string const& kind) {
    if (next_ == words_.size())
      throw error(exit_code::usage, flag + " has no value; write " + flag + " " + kind + ", see --help");
    std::string const value(words_[next_]);
    if (is_known(value))
      throw error(exit_code::usage, flag + " has no value: the option " + std::string(name_in(value)) +
                                        " follows; write " + flag + " " + kind + ", or " + flag + "=" + value +
                                        " if that is the value");
    ++next_;
    return value;
  }

  [[noreturn]] void refuse(std::string_view word, std::string_view name) const {
    if (!word.starts_with('-') || word.size() == 1)
      throw error(exit_code::usage, "unexpected argument '" + std::string(word) +
                                        "'; every value follows the name of its option, see --help");
    std::vector<std::string> known = {"--config", "--help"};
    for (entry const& e : entries_) known.push_back(e.flag);
    std::string const near = meta::nearest(name, known);
    throw error(exit_code::usage, "unknown option " + std::string(name) + "; " +
                                      (near.empty() ? "see --help for all" : "did you mean " + near + "?"));
  }

  std::vector<entry> const& entries_;
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  command_line line_;
};

}  // namespace redco::options::detail
