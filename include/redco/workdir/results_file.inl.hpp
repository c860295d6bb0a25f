#pragma once

#include <redco/workdir/results_file.hpp>

#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace redco::workdir {

namespace detail {

inline json::json_value null_where_not_finite(json::json_value value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return nullptr;
  if (value.is_structured()) {
    for (auto& part : value) part = null_where_not_finite(std::move(part));
  }
  return value;
}

}  // namespace detail

REDCO_INLINE void write_results(std::filesystem::path const& file, json::json_value const& results) {
  std::string const text = json::dump_json(detail::null_where_not_finite(results), 2) + "\n";
  std::filesystem::path const unfinished = file.string() + ".tmp";
  safetensors::posix_file_ops ops;
  ops.remove_file(unfinished.c_str());  // what a killed run may have left
  try {
    safetensors::output_file<safetensors::posix_file_ops> out(ops, unfinished);
    out.write(text);
    out.finish();
  } catch (error const&) {
    ops.remove_file(unfinished.c_str());
    throw;
  }
  if (ops.rename(unfinished.c_str(), file.c_str()) != 0) {
    std::string const reason = std::strerror(errno);
    ops.remove_file(unfinished.c_str());
    throw error(exit_code::io, "cannot name the results " + file.string() + ": " + reason + ". Check the workdir.");
  }
  auto const folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  ops.sync_directory(folder.c_str());  // some file systems cannot; the file is whole either way
}

}  // namespace redco::workdir
