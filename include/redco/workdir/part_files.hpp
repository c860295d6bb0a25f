#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::workdir {

/// Returns the kind of checkpoint file that stores the tensor `name`: "optimizer", "masters",
/// "objects" or "parameters".
inline std::string kind_of(std::string_view name) {
  if (name.starts_with("optimizer.")) return "optimizer";
  if (name.starts_with("master.")) return "masters";
  if (name.starts_with("object.")) return "objects";
  return "parameters";
}

/// Returns the name of the checkpoint file of kind `kind` that `rank` writes, such as
/// "parameters-0of2.safetensors". The two numbers count only the ranks that write a file of this
/// kind. `writers`: for each rank, the kinds of files that it writes, one per line.
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
