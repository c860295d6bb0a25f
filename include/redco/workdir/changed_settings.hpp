#pragma once

#include <redco/workdir/differing_part.hpp>

#include <map>
#include <string>

namespace redco::workdir {

/// Returns a description of the settings that differ between a checkpoint (`before`) and a run
/// (`now`), such as "global_batch is 3, was 4; optimizer.lr is 0.1, was 0.02". Returns an empty
/// text if none differ. Skips remarks (names that begin with #), and names that only one of the two
/// maps has, because they belong to another optimizer or version.
inline std::string changed_settings(std::map<std::string, std::string> const& before,
                                    std::map<std::string, std::string> const& now) {
  std::string text;
  for (auto const& [name, was] : before) {
    auto const is = now.find(name);
    if (name.starts_with('#') || is == now.end() || is->second == was) continue;
    text += (text.empty() ? "" : "; ") + name + " is " + differing_part(is->second, was) + ", was " +
            differing_part(was, is->second);
  }
  return text;
}

}  // namespace redco::workdir
