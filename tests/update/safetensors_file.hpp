#pragma once

#include "shared_folder.hpp"

#include <redco/tensor/torch.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

inline std::string file_bytes(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the f32 and f64 tensors of a safetensors file by name, all as f64, for the reference
/// numbers of the optimizers.
inline std::map<std::string, at::Tensor> read_reference(std::filesystem::path const& path) {
  std::string bytes = file_bytes(path);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::map<std::string, at::Tensor> tensors;
  auto const entries = redco::json::parse_json(std::string_view(bytes).substr(8, header), path.string());
  for (auto const& [name, entry] : entries.items()) {
    if (name == "__metadata__") continue;
    auto const shape = entry["shape"].get<std::vector<std::int64_t>>();
    auto const type = entry["dtype"] == "F64" ? at::kDouble : at::kFloat;
    char* const data = bytes.data() + 8 + header + entry["data_offsets"][0].get<std::size_t>();
    at::Tensor tensor = at::empty(shape, type);
    std::memcpy(tensor.mutable_data_ptr(), data, tensor.nbytes());
    tensors[name] = tensor.to(at::kDouble);
  }
  return tensors;
}
