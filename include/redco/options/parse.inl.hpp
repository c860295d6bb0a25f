#pragma once

#include <redco/options/parse.hpp>

#include <redco/options/detail/bounds.hpp>
#include <redco/options/detail/command_line.hpp>
#include <redco/options/row.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/nearest.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace redco::options::detail {

/// Returns `text` in lines of at most `width` characters, broken at spaces. A word longer than
/// `width` has a line of its own.
inline std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    std::string_view const word = text.substr(0, text.find(' '));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back().append(lines.back().empty() ? "" : " ").append(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return lines;
}

/// Returns the lines of one option in a help text. `left` (flag and kind of value) is in a column
/// of 30 characters. `about` is to the right of it, in lines that end at column 100.
inline std::string help_lines(std::string const& left, std::string_view about) {
  constexpr std::size_t column = 32, end = 100;
  std::string text = "  " + left;
  for (std::string const& line : wrapped(about, end - column)) {
    if (text.back() == '\n') text += std::string(column, ' ');
    else if (text.size() + 2 > column) text += "\n" + std::string(column, ' ');
    else text = padded(text, column);
    text += line + '\n';
  }
  return text;
}

/// Returns the end of an option's help text, such as "(default 1, 0 or more)": "required", the
/// default value, or "optional" if that is empty, then the accepted numbers.
inline std::string help_facts(entry const& e) {
  std::string const standard = shown(e.write());
  std::string facts = e.required ? "required" : standard.empty() ? "optional" : "default " + standard;
  if (std::string const bound = e.range.text(); !bound.empty()) facts += ", " + bound;
  return "(" + facts + ")";
}

/// Returns the text of --help: options without a group under the name of the program, then --config
/// and --help, then each group under its title.
inline std::string help_text(std::vector<entry> const& entries, std::string const& program, std::string_view about) {
  std::string const name = std::filesystem::path(program).filename().string();
  std::vector<std::string> groups{""};
  for (entry const& e : entries)
    if (std::find(groups.begin(), groups.end(), e.group) == groups.end()) groups.push_back(e.group);

  std::string text = "usage: " + name + " [OPTIONS]\n";
  if (!about.empty()) text.append(about).append("\n");
  for (std::string const& group : groups) {
    std::string lines;
    for (entry const& e : entries) {
      if (e.group != group) continue;
      std::string const kind = e.type.kind.empty() ? "" : e.type.is_flag ? " [" + e.type.kind + "]" : " " + e.type.kind;
      lines += help_lines(e.flag + kind + (e.type.is_flag ? ", --no-" + e.flag.substr(2) : ""),
                          e.about + (e.about.empty() ? "" : " ") + help_facts(e));
    }
    if (!lines.empty()) text += "\n" + (group.empty() ? "options of " + name : group) + ":\n" + lines;
    if (!group.empty()) continue;
    text += "\ngeneral:\n" +
            help_lines("--config FILE", "JSON object with the same names; options given here overrule it") +
            help_lines("-h, --help", "prints this text");
  }
  return text;
}

/// Returns the accepted numbers of an option as the end of an error message, such as ": give 1 or
/// more". Returns an empty text if the option has no bound.
inline std::string bound_advice(entry const& e) {
  std::string const bound = e.range.text();
  return bound.empty() ? "" : ": give " + bound;
}

template <class Read>
void assign(entry& e, provenance source, std::string const& where, option_value const& value, Read const& read) {
  try {
    read(value);
  } catch (unfit_value const& reason) {
    throw error(exit_code::usage,
                where + ": '" + shown(value) + "' " + reason.what() + bound_advice(e) + "; see --help");
  } catch (error const& refused) {
    throw error(exit_code::usage, where + ": " + refused.what());
  }
  e.source = source;
}

inline bool outside(option_value const& value, bounds const& range) {
  return std::visit(
      [&range](auto const& one) {
        using type = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::is_same_v<type, std::int64_t> || std::is_same_v<type, double>) return range.exclude(one);
        else return false;
      },
      value);
}

/// Throws `error` with exit code 64 if the number of an option is outside of its bounds. Numbers
/// from flags, the --config file and defaults are all checked.
inline void check_bounds(std::vector<entry> const& entries) {
  for (entry const& e : entries)
    if (option_value const value = e.write(); outside(value, e.range))
      throw error(exit_code::usage, e.flag + " is " + shown(value) + " (" + e.about + ")" + bound_advice(e));
}

/// Throws `error` with exit code 64 if a value of the option `e` is not UTF-8, because JSON
/// (config.json) cannot contain it.
inline void refuse_other_than_utf8(entry const& e, std::vector<std::string> const& texts) {
  try {
    json_text(option_value(texts));
  } catch (error const&) {
    throw error(exit_code::usage,
                e.flag + ": its value is not UTF-8; rename the file, or set a locale that ends in UTF-8");
  }
}

inline void apply_file(std::vector<entry>& entries, std::string const& path) {
  json::json_value const config = json::read_json(path);
  if (!config.is_object()) {
    throw error(exit_code::usage, path + ": a configuration is a JSON object of options, such as {\"epochs\": 3}");
  }
  for (auto const& [key, value] : config.items()) {
    if (key.starts_with('#')) continue;  // keys with # are remarks
    entry* known = nullptr;
    std::vector<std::string> names;
    for (entry& e : entries) {
      names.push_back(e.name);
      if (e.name == key) known = &e;
    }
    if (known == nullptr) {
      std::string const near = meta::nearest(key, names);
      throw error(exit_code::usage, path + ": unknown option \"" + key + "\"; " +
                                        (near.empty() ? "see --help for all" : "did you mean \"" + near + "\"?"));
    }
    assign(*known, provenance::file, path + ": " + key, value_of(value),
           [&](option_value const& read) { known->read(read); });
  }
}

/// Returns true if the option is required but has no value. An empty text or list counts as no
/// value, because it often comes from an unset shell variable.
inline bool missing(entry const& e) {
  option_value const value = e.write();
  auto const* const text = std::get_if<std::string>(&value);
  auto const* const words = std::get_if<list>(&value);
  return e.source == provenance::standard || (text != nullptr && text->empty()) || (words != nullptr && words->empty());
}

inline void check_required(std::vector<entry> const& entries) {
  std::string names;
  for (entry const& e : entries)
    if (e.required && missing(e))
      names += (names.empty() ? "" : ", ") + e.flag + " " + e.type.kind + " (" + e.about + ")";
  if (!names.empty()) throw error(exit_code::usage, "required and not given: " + names);
}

REDCO_INLINE void apply(std::vector<entry>& entries, int argc, char const* const* argv, std::string_view about) {
  command_line const line = read_command_line(entries, argc, argv);
  if (line.help) throw help_requested(help_text(entries, argc > 0 ? argv[0] : "program", about));
  if (line.config) apply_file(entries, *line.config);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (line.texts[i].empty()) continue;
    refuse_other_than_utf8(entries[i], line.texts[i]);
    assign(entries[i], provenance::flag, entries[i].flag, line.texts[i],
           [&](option_value const&) { entries[i].read_texts(line.texts[i]); });
  }
  check_required(entries);
  check_bounds(entries);
}

}  // namespace redco::options::detail
