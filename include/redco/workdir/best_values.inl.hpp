#pragma once

#include <redco/workdir/best_values.hpp>

#include <redco/config.hpp>

namespace redco::workdir {

REDCO_INLINE manifest::best_value const& best_values::at(std::string const& name) const {
  if (auto const own = find(name); own != end()) return own->second;
  auto const least = find("min_" + name), most = find("max_" + name);
  if ((least == end()) != (most == end())) return (least == end() ? most : least)->second;
  std::string known;
  for (auto const& [key, value] : *this) known += (known.empty() ? "" : ", ") + key;
  throw error(exit_code::internal, "there is no one best value of \"" + name + "\"; there is " +
                                       (known.empty() ? "none of any metric" : known) +
                                       ": name it in save_argmin or save_argmax, or give one of these names");
}

}  // namespace redco::workdir
