#pragma once

// Checks the result of save_model for a model that was loaded from a folder of reference numbers.

#include <redco/ckpt/save_model.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/meta/glob.hpp>

#include "parity/reference.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

inline bool same_bits(at::Tensor const& a, at::Tensor const& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

/// Returns the bytes of all files of the weights.
inline std::uint64_t bytes_of_files(redco::safetensors::weights_source const& weights) {
  std::set<std::string> names;
  for (auto const& [name, stored] : weights.tensors) names.insert(stored.parts.front().file);
  std::uint64_t sum = 0;
  for (std::string const& name : names) sum += (*weights.files)[name].size();
  return sum;
}

/// Reads every tensor of weights on disk.
inline tensors read_all(redco::safetensors::weights_source const& weights) {
  std::vector<redco::ckpt::state_part> parts;
  for (auto const& [name, stored] : weights.tensors)
    parts.push_back({name, stored.shape, at::empty(stored.shape, redco::ckpt::scalar_type_of(stored.type)),
                     redco::safetensors::whole(stored.shape)});
  redco::ckpt::read_parts(*weights.files, weights.tensors, parts);
  tensors all;
  for (redco::ckpt::state_part const& part : parts) all[part.name] = part.local;
  return all;
}

/// Compares saved weights with the loaded ones bit for bit, except for tensors that the table does
/// not read. A tensor that is zero because the file lacks it is saved as zeros.
inline void expect_saved(folder const& data, redco::safetensors::weights_source const& loaded,
                         std::filesystem::path const& saved, redco::models::stored_table const& table) {
  auto const& unread = table.unread;
  tensors found = read_all(redco::workdir::open_weights(saved));
  for (auto const& [name, want] : read_all(loaded)) {
    auto const at = found.find(name);
    if (at == found.end() && std::any_of(unread.begin(), unread.end(), [&tensor = name](std::string_view pattern) {
          return redco::meta::glob(pattern, tensor);
        }))
      continue;
    data.expect(at != found.end() && same_bits(at->second, want),
                "the saved " + name + " is not the one that was loaded");
    if (at != found.end()) found.erase(at);
  }
  for (auto const& [name, extra] : found) {
    bool const zero = std::any_of(table.names.begin(), table.names.end(), [&tensor = name](auto const& stored) {
      return stored.zero && redco::meta::glob(stored.theirs, tensor);
    });
    data.expect(zero && !extra.any().item<bool>(), name + " was saved and is not in the reference's file");
  }
}

/// Compares the other files of the folder, byte for byte.
inline void expect_files(folder const& data, redco::save_model_options const& options,
                         std::filesystem::path const& saved) {
  for (auto const& [name, source] : options.files)
    data.expect(content_of(saved / name) == content_of(source), "the saved " + name + " is not the one that was there");
  redco::pretrained_folder const again(saved);
  data.expect(again.family() == data.config["model_type"].get<std::string>(),
              "the saved folder describes another family");
}

}  // namespace parity
