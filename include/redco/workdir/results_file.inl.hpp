#pragma once

#include <redco/workdir/results_file.hpp>

#include <redco/safetensors/replace_file.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <utility>

namespace redco::workdir::detail {

inline json::json_value null_where_not_finite(json::json_value value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return nullptr;
  if (value.is_structured()) {
    for (auto& part : value) part = null_where_not_finite(std::move(part));
  }
  return value;
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

REDCO_INLINE void write_results(std::filesystem::path const& file, json::json_value const& results) {
  safetensors::replace_file(file, json::dump_json(detail::null_where_not_finite(results), 2) + "\n",
                            "check the workdir");
}

}  // namespace redco::workdir
