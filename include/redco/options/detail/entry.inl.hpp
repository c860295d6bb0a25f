#pragma once

#include <redco/options/detail/entry.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace redco::options::detail {

REDCO_INLINE void add_entry(std::vector<entry>& entries, std::string_view name, entry added) {
  for (entry const& other : entries)
    if (other.name == name)
      throw error(exit_code::internal,
                  "two options are named '" + other.name + "'; rename one of the members in fields()");
  added.name = name;
  added.flag = "--" + added.name;
  for (char& c : added.flag)
    if (c == '_') c = '-';
  entries.push_back(std::move(added));
}

#ifdef REDCO_COMPILED
template member_type member_type_of<bool>();
template member_type member_type_of<int>();
template member_type member_type_of<std::int64_t>();
template member_type member_type_of<std::uint64_t>();
template member_type member_type_of<double>();
template member_type member_type_of<std::string>();
template member_type member_type_of<std::filesystem::path>();
template member_type member_type_of<list>();
template member_type member_type_of<recomputed_blocks>();
template member_type member_type_of<std::optional<bool>>();
template member_type member_type_of<std::optional<int>>();
template member_type member_type_of<std::optional<mesh>>();
template member_type member_type_of<std::optional<dtype>>();
#endif

}  // namespace redco::options::detail
