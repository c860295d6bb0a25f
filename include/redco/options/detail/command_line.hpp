#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/nearest.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::options::detail {

/// A command line whose values are replaced by numbered placeholders for CLI11. CLI11 would change
/// the values: it strips brackets, splits lists at commas, and takes a value that starts with a
/// dash for an option. - `--name=VALUE`: the value is the text after the first '='. - `--name
/// VALUE`: the value is the next word, unless this word is the name of an option. - `--list A B
/// ...`: the values are the next word and all further words up to the next option.
class value_words {
 public:
  /// Replaces the values of `argv`. Throws `error` with exit code 64 if an option that takes a
  /// value has none, or if `--no-NAME` has a value.
  value_words(std::vector<entry> const& entries, int argc, char const* const* argv) : entries_(entries) {
    std::string waiting;  // option whose value is the next word
    for (int i = 1; i < argc; ++i) {
      std::string_view const word = argv[i];
      std::string const name(name_in(word));
      if (!waiting.empty()) {
        if (is_known(name)) refuse_missing(waiting, word);
        words_.push_back(hidden(word));
        waiting.clear();
      } else if (!starts_option(word)) {
        words_.push_back(hidden(word));
      } else {
        bool const joined = name.size() < word.size();
        refuse_value_of_negation(name,
                                 joined         ? word.data() + name.size() + 1
                                 : i + 1 < argc ? argv[i + 1]
                                                : nullptr,
                                 joined);
        words_.push_back(joined ? name + "=" + hidden(word.substr(name.size() + 1)) : name);
        if (!joined && takes_value(name)) waiting = name;
      }
    }
    if (!waiting.empty()) refuse_missing(waiting, {});
  }

  /// Returns the words of the command line in reverse order, as CLI11 expects a vector of words.
  std::vector<std::string> reversed() const { return {words_.rbegin(), words_.rend()}; }

  /// Returns the user's value for a placeholder in CLI11's result. Returns any other word
  /// unchanged.
  std::string restored(std::string const& word) const {
    std::size_t const at = word.rfind(mark);
    if (at == std::string::npos) return word;
    return word.substr(0, at) + values_[std::stoul(word.substr(at + mark.size()))];
  }

  /// Returns true if `word` starts an option: "-h", or two dashes and a letter.
  static bool starts_option(std::string_view word) {
    auto const is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return word == "-h" || (word.starts_with("--") && word.size() > 2 && is_letter(word[2]));
  }
  static std::string_view name_in(std::string_view word) { return word.substr(0, word.find('=')); }

 private:
  // The ASCII unit separator, which no option name contains
  static constexpr std::string_view mark = "\x1f";

  std::string hidden(std::string_view value) {
    values_.emplace_back(value);
    return std::string(mark) + std::to_string(values_.size() - 1);
  }

  entry const* find(std::string_view name) const {
    for (entry const& e : entries_)
      if (name == e.flag || (e.type.is_flag && name == "--no-" + e.flag.substr(2))) return &e;
    return nullptr;
  }
  bool is_known(std::string_view name) const {
    return name == "-h" || name == "--help" || name == "--config" || find(name) != nullptr;
  }
  bool takes_value(std::string_view name) const {
    entry const* const option = find(name);
    return name == "--config" || (option != nullptr && !option->type.is_flag);
  }

  /// Throws `error` with exit code 64 if the --no- form of an option has a value. `value` is the
  /// text after '=' (then `joined` is true) or the next word; null if there is none.
  void refuse_value_of_negation(std::string const& name, char const* value, bool joined) const {
    entry const* const option = find(name);
    if (option == nullptr || name == option->flag || value == nullptr) return;
    if (!joined && (option->type.kind.empty() || value[0] == '-')) return;
    throw error(exit_code::usage,
                name + " takes no value, but has '" + value + "'; give it to " + option->flag + ", or leave it out");
  }

  [[noreturn]] void refuse_missing(std::string const& flag, std::string_view next) const {
    entry const* const option = find(flag);
    std::string const usage = flag + " " + (option == nullptr ? "FILE" : option->type.kind);
    if (next.empty()) throw error(exit_code::usage, flag + " has no value; write " + usage + ", see --help");
    throw error(exit_code::usage, flag + " has no value: the option " + std::string(name_in(next)) +
                                      " follows; write " + usage + ", or " + flag + "=" + std::string(next) +
                                      " if that is the value");
  }

  std::vector<entry> const& entries_;
  std::vector<std::string> words_, values_;
};

/// The words of a command line, sorted by option, before they are converted to values.
struct command_line {
  /// Words given for each option, in the order of the entries; empty if an option was not given.
  std::vector<std::vector<std::string>> texts;
  std::optional<std::string> config;
  bool help = false;
};

[[noreturn]] inline void refuse_extra(std::string const& word, std::vector<entry> const& entries) {
  if (!value_words::starts_option(word))
    throw error(exit_code::usage,
                "unexpected argument '" + word + "'; every value follows the name of its option, see --help");
  std::string const name(value_words::name_in(word));
  std::vector<std::string> known = {"--config", "--help"};
  for (entry const& e : entries) known.push_back(e.flag);
  std::string const near = meta::nearest(name, known);
  throw error(exit_code::usage,
              "unknown option " + name + "; " + (near.empty() ? "see --help for all" : "did you mean " + near + "?"));
}

/// Reads `argv` with the library CLI11. If an option occurs more than once, the last occurrence
/// counts, but a list takes the words of all occurrences. Throws `error` with exit code 64 for
/// unknown options, missing values and words that belong to no option.
inline command_line read_command_line(std::vector<entry> const& entries, int argc, char const* const* argv) {
  value_words words(entries, argc, argv);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  command_line line;
  app.add_flag("-h,--help", line.help);
  std::string config;
  auto* const config_option = app.add_option("--config", config)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);

  line.texts.resize(entries.size());
  std::vector<std::string> single(entries.size());
  std::vector<CLI::Option*> added;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entry const& e = entries[i];
    if (e.type.is_list) {
      added.push_back(app.add_option(e.flag, line.texts[i]));
    } else if (e.type.is_flag) {
      added.push_back(app.add_flag(e.flag + "{true},--no-" + e.flag.substr(2) + "{false}", single[i]));
      if (!e.type.kind.empty()) added.back()->expected(0, 1);
    } else {
      added.push_back(app.add_option(e.flag, single[i]));
    }
    if (!e.type.is_list) added.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  try {
    app.parse(words.reversed());
  } catch (CLI::ParseError const& e) {
    throw error(exit_code::usage, std::string(e.what()) + "; see --help");
  }
  if (line.help) return line;
  if (auto const extras = app.remaining(); !extras.empty()) refuse_extra(words.restored(extras.front()), entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].type.is_list && added[i]->count() > 0) line.texts[i].push_back(single[i]);
    for (std::string& text : line.texts[i]) text = words.restored(text);
  }
  if (config_option->count() > 0) line.config = words.restored(config);
  return line;
}

}  // namespace redco::options::detail
