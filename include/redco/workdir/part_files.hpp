#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::workdir {

/// Returns the kind of file that stores a tensor: "optimizer", "masters", "objects" or
/// "parameters".
inline std::string kind_of(std::string_view name) {
  if (name.starts_with("optimizer.")) return "optimizer";
  if (name.starts_with("master.")) return "masters";
  if (name.starts_with("object.")) return "objects";
  return "parameters";
}

/// Returns the name of the file of this kind that `rank` writes, such as
/// "parameters-0of2.safetensors". `writers` has a list of kinds, one per line, for each rank. The
/// numbers count the ranks whose list has `kind`.
inline std::string file_name(std::string const& kind, std::vector<std::string> const& writers, int rank) {
  int before = 0;
  int all = 0;
  for (std::size_t r = 0; r < writers.size(); ++r) {
    bool const writes = ("\n" + writers[r]).find("\n" + kind + "\n") != std::string::npos;
    all += writes;
    before += writes && static_cast<int>(r) < rank;
  }
  return kind + "-" + std::to_string(before) + "of" + std::to_string(all) + ".safetensors";
}

}  // namespace redco::workdir
