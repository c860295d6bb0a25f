#pragma once

#include <redco/options/resolved.hpp>

#include <redco/json/dump.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <ostream>

namespace redco::options::detail {

REDCO_INLINE std::vector<row> rows_of(std::vector<entry> const& entries) {
  std::vector<row> rows;
  for (entry const& e : entries) rows.push_back({e.name, e.flag, e.write(), e.source});
  return rows;
}

REDCO_INLINE provenance source_of(std::vector<row> const& rows, std::string_view name) {
  for (row const& r : rows) {
    if (r.name == name) return r.source;
  }
  throw error(exit_code::internal, "'" + std::string(name) + "' is no option; use the name that fields() gives it");
}

REDCO_INLINE std::string json_text(std::vector<row> const& rows) {
  json::json_line line;
  for (row const& r : rows) line.add_text(r.name, json_text(r.value));
  return line.text();
}

REDCO_INLINE void print(std::vector<row> const& rows, std::ostream& out) {
  std::size_t flag_width = 0, value_width = 0;
  for (row const& r : rows) {
    flag_width = std::max(flag_width, r.flag.size());
    value_width = std::max(value_width, shown(r.value).size());
  }
  value_width = std::min<std::size_t>(value_width, 40);
  for (row const& r : rows) {
    out << "  " << padded(r.flag, flag_width) << "  " << padded(shown(r.value), value_width) << "  "
        << name_of(r.source) << '\n';
  }
}

REDCO_INLINE std::map<std::string, std::string> agreed(std::vector<entry> const& entries) {
  std::map<std::string, std::string> all;
  for (entry const& e : entries) {
    bool const of_process = e.type.kind == "PATH" || e.of_process;
    if (!of_process) all[e.flag] = shown(e.write());
  }
  return all;
}

}  // namespace redco::options::detail
