#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/detail/value_words.hpp>

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
