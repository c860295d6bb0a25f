#pragma once

#include <redco/options/detail/entry.hpp>

#include <redco/meta/fields.hpp>

#include <map>
#include <string>
#include <vector>

namespace redco::options::detail {

std::map<std::string, std::string> agreed(std::vector<entry> const& entries);

}  // namespace redco::options::detail

namespace redco::options {

/// Returns the options that must be equal in all processes of a run, as text by flag, for example
/// {"--lr", "0.001"}. Omits paths and `per_process` fields, because they may differ between hosts.
template <meta::reflected Options>
std::map<std::string, std::string> agreed_options(Options options) {
  std::vector<detail::entry> entries;
  detail::collect(options, entries);
  return detail::agreed(entries);
}

/// Returns the options of this program that must be equal in all processes, as text by flag.
/// `main_of` sets them; empty in programs without `main_of`.
inline std::map<std::string, std::string>& program_options() {
  static std::map<std::string, std::string> all;
  return all;
}

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/agreed_options.inl.hpp>
#endif
