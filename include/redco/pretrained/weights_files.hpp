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

namespace redco {

/// One of the files that a model's weights go into.
struct weights_file {
  std::string name;
  safetensors::safetensors_plan plan;
};

inline constexpr std::string_view weights_name = "model.safetensors";
inline constexpr std::string_view weights_index_name = "model.safetensors.index.json";

/// "model-00002-of-00012.safetensors", counted from 1.
inline std::string shard_name(std::size_t number, std::size_t files) {
  auto const five = [](std::size_t n) {
    std::string const digits = std::to_string(n);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return "model-" + five(number) + "-of-" + five(files) + ".safetensors";
}

/// Divides the tensors, in this order, over as many files as it takes for each to hold at most `file_bytes` of them, or one
/// tensor. The files say that they are PyTorch's, without which the Python libraries refuse them.
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

/// The index of several files.
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

}  // namespace redco
