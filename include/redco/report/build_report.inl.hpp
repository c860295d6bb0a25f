#pragma once

#include <redco/report/build_report.hpp>

#include <redco/options/value_text.hpp>
#include <redco/safetensors/replace_file.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace redco::report::detail {

REDCO_INLINE void write_reports(build_report_request const& r, shard_report const& report) {
  std::filesystem::path const folder = r.folder;
  std::filesystem::create_directories(folder);
  for (report_format const format : r.formats) {
    std::filesystem::path const file =
        folder / (r.name + "_" + options::to_text(report.run.mesh) + "." + std::string(name_of(format)));
    safetensors::replace_file(file, report_as(format, report, r.name), "make its folder writable");
  }
}

REDCO_INLINE exit_code refused(build_report_request const& r, exit_code before, exit_code code,
                               std::string const& why) {
  std::cerr << r.name << ": " << why << '\n';
  return std::max(before, code);
}

}  // namespace redco::report::detail
