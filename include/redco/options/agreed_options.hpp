#pragma once

#include <redco/options/detail/entry.hpp>

#include <redco/meta/fields.hpp>

#include <map>
#include <string>
#include <vector>

namespace redco::options {

namespace detail {

std::map<std::string, std::string> agreed(std::vector<entry> const& entries);

}  // namespace detail

/// Returns the options that all processes of a run must have alike, as their texts by flag:
/// {"--lr", "0.001"}. Paths may differ between hosts, and so may --workdir, --threads and --quiet.
template <reflected Options>
std::map<std::string, std::string> agreed_options(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  return detail::agreed(entries);
}

/// The agreed options with which `main_of` began this program; empty without it.
inline std::map<std::string, std::string>& program_options() {
  static std::map<std::string, std::string> all;
  return all;
}

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/agreed_options.inl.hpp>
#endif
