#pragma once

#include <redco/options/detail/entry.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/nearest.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::options::detail {

/// What the command line says, not yet believed.
struct command_line {
  std::vector<std::vector<std::string>> texts;  // per entry; empty where it was not given
  std::optional<std::string> config;
  bool help = false;
};

[[noreturn]] inline void refuse_extra(std::vector<std::string> const& extras, std::vector<entry> const& entries) {
  for (std::string const& extra : extras) {
    if (!extra.starts_with('-')) continue;
    std::string const flag = extra.substr(0, extra.find('='));
    std::vector<std::string> known = {"--config", "--help"};
    for (entry const& e : entries) known.push_back(e.flag);
    std::string const near = meta::nearest(flag, known);
    throw error(exit_code::usage,
                "unknown option " + flag + "; " + (near.empty() ? "see --help for all" : "did you mean " + near + "?"));
  }
  throw error(exit_code::usage,
              "unexpected argument '" + extras.front() + "'; every value follows the name of its option, see --help");
}

/// Refuses "--no-recompute every:2": CLI11 would take the value.
inline void refuse_value_of_twin(entry const& e, int argc, char const* const* argv) {
  std::string const twin = "--no-" + e.flag.substr(2);
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i];
    bool const joined = word.starts_with(twin + "="), apart = word == twin && i + 1 < argc && argv[i + 1][0] != '-';
    if (joined || apart)
      throw error(exit_code::usage, twin + " takes no value, but has '" +
                                        std::string(joined ? word.substr(twin.size() + 1) : argv[i + 1]) +
                                        "'; give it to " + e.flag + ", or leave it out");
  }
}

/// Reads `argv` with CLI11. Of an option given twice the last one counts; a list takes all.
inline command_line read_command_line(std::vector<entry> const& entries, int argc, char const* const* argv) {
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
      if (!e.type.kind.empty()) refuse_value_of_twin(e, argc, argv);
    } else {
      added.push_back(app.add_option(e.flag, single[i]));
    }
    if (!e.type.is_list) added.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    throw error(exit_code::usage, std::string(e.what()) + "; see --help");
  }
  if (line.help) return line;
  if (auto const extras = app.remaining(); !extras.empty()) refuse_extra(extras, entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].type.is_list && added[i]->count() > 0) line.texts[i].push_back(single[i]);
  }
  if (config_option->count() > 0) line.config = config;
  return line;
}

}  // namespace redco::options::detail
