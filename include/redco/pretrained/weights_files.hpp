#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::pretrained {

/// A description of a safetensors file to write, which contains some of a model's tensors.
struct weights_file {
  std::string name;
  safetensors::safetensors_plan plan;
};

inline constexpr std::string_view weights_name = "model.safetensors";
inline constexpr std::string_view weights_index_name = "model.safetensors.index.json";

/// Returns the name of file `number` (from 1) among several weights files of a model, for example
/// "model-00002-of-00012.safetensors".
inline std::string shard_name(std::size_t number, std::size_t files) {
  auto const five = [](std::size_t n) {
    std::string const digits = std::to_string(n);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return "model-" + five(number) + "-of-" + five(files) + ".safetensors";
}

/// Divides a model's tensors, in the given order, into files with at most `file_bytes` bytes of
/// tensors; a larger tensor gets its own file. The files declare the format "pt" (PyTorch), because
/// Python libraries refuse files without this entry.
inline std::vector<weights_file> weights_files(safetensors::tensor_table const& tensors,
                                               std::vector<std::string> const& order, std::uint64_t file_bytes) {
  std::vector<std::vector<safetensors::safetensors_entry>> groups(1);
  std::uint64_t bytes = 0;
  for (std::string const& name : order) {
    safetensors::stored_tensor const& tensor = tensors.at(name);
    auto const own =
        static_cast<std::uint64_t>(safetensors::count_of(tensor.shape) * safetensors::size_of(tensor.type));
    if (!groups.back().empty() && bytes + own > file_bytes) {
      groups.emplace_back();
      bytes = 0;
    }
    bytes += own;
    groups.back().push_back({name, tensor.type, tensor.shape});
  }
  std::vector<weights_file> files;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    files.push_back({groups.size() == 1 ? std::string(weights_name) : shard_name(i + 1, groups.size()),
                     safetensors::plan_safetensors(std::move(groups[i]), {{"format", "pt"}})});
  }
  return files;
}

/// Returns the text of the index file of several weights files. The index names the file of each
/// tensor.
inline std::string weights_index(std::vector<weights_file> const& files) {
  std::map<std::string, std::string> file_of;
  std::uint64_t bytes = 0;
  for (weights_file const& file : files) {
    for (safetensors::safetensors_entry const& entry : file.plan.entries) {
      file_of[entry.name] = file.name;
      bytes += entry.end - entry.begin;
    }
  }
  return json::dump_json({{"metadata", {{"total_size", bytes}}}, {"weight_map", file_of}}, 2) + "\n";
}

}  // namespace redco::pretrained
