#pragma once

#include <redco/options/agreed_options.hpp>

#include <redco/config.hpp>

namespace redco::options::detail {

REDCO_INLINE std::map<std::string, std::string> agreed(std::vector<entry> const& entries) {
  std::map<std::string, std::string> all;
  for (entry const& e : entries) {
    bool const of_process = e.type.kind == "PATH" || e.of_process;
    if (!of_process) all[e.flag] = shown(e.write());
  }
  return all;
}

}  // namespace redco::options::detail
