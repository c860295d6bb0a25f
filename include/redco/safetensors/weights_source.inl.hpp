#pragma once

#include <redco/safetensors/weights_source.hpp>

#include <redco/safetensors/names.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::safetensors::detail {

/// Adds the tensors of the file `name` to a set of weights. Throws `error` with exit code 65 if the
/// set already has a tensor with an equal name.
inline void add_file(weights_source& source, std::string const& name) {
  for (safetensors_entry const& entry : (*source.files)[name].entries()) {
    tensor_part whole_file{name, std::vector<std::int64_t>(entry.shape.size(), 0), entry.shape};
    if (!source.tensors.try_emplace(entry.name, stored_tensor{entry.type, entry.shape, {whole_file}}).second) {
      throw error(exit_code::data, "tensor " + shown(entry.name) + " is in two files of " +
                                       source.files->directory().string() + ". Fetch the weights again.");
    }
  }
}

/// Reads an index of several safetensors files and checks all its entries against the files. Form:
/// `{"metadata": {"total_size": bytes}, "weight_map": {tensor: file}}`.
inline weights_source read_index(std::filesystem::path const& path) {
  weights_source source{.tensors = {}, .files = std::make_shared<open_files const>(path.parent_path())};
  auto const fail = [&](std::string const& why) {
    throw error(exit_code::data,
                path.string() + " is not a valid index of weights: " + why + ". Fetch the weights again.");
  };
  json::json_limits constexpr limits{};
  json::json_value const index = json::parse_json(diag::input_file(path).text(limits.bytes), path.string(), limits);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    fail("it has no weight_map");
  std::map<std::string, std::string> file_of;
  std::set<std::string> added;
  for (auto const& [tensor, value] : index["weight_map"].items()) {
    if (!value.is_string() || !plain_name(value.get_ref<std::string const&>()))
      fail("the file of tensor " + shown(tensor) + " is not a plain file name");
    auto const& file = value.get_ref<std::string const&>();
    file_of[tensor] = file;
    if (added.insert(file).second) add_file(source, file);
    if ((*source.files)[file].find(tensor) == nullptr) fail("tensor " + shown(tensor) + " is not in its file " + file);
  }
  std::uint64_t bytes = 0;
  for (auto const& [name, tensor] : source.tensors) {
    if (!file_of.contains(name)) fail("it does not name tensor " + shown(name) + " of " + tensor.parts.front().file);
    bytes += static_cast<std::uint64_t>(count_of(tensor.shape) * size_of(tensor.type));
  }
  if (index.contains("metadata") && index["metadata"].is_object() && index["metadata"].contains("total_size")) {
    json::json_value const& total = index["metadata"]["total_size"];
    if (!total.is_number_unsigned() || total.get<std::uint64_t>() != bytes)
      fail("its total_size is not the " + std::to_string(bytes) + " bytes of the tensors");
  }
  return source;
}

}  // namespace redco::safetensors::detail

namespace redco::safetensors {

REDCO_INLINE weights_source open_safetensors(std::filesystem::path const& path) {
  std::error_code unknown;  // opening reports paths that cannot be read
  if (std::filesystem::is_directory(path, unknown)) {
    for (char const* const name : {"model.safetensors", "model.safetensors.index.json"})
      if (std::filesystem::exists(path / name, unknown)) return open_safetensors(path / name);
    std::vector<std::string> const others = other_weights(path);
    throw error(
        exit_code::data,
        path.string() + " has neither model.safetensors nor model.safetensors.index.json; " +
            (others.empty()
                 ? "fetch the weights as safetensors files, or give another folder"
                 : others.front() + " is not read, because such files can run code or belong to other programs; fetch "
                                    "the safetensors files of the model, or load and save the folder once by "
                                    "from_pretrained and save_pretrained of transformers"));
  }
  if (path.extension() == ".json") return detail::read_index(path);
  weights_source source{.tensors = {}, .files = std::make_shared<open_files const>(path.parent_path())};
  detail::add_file(source, path.filename().string());
  return source;
}

}  // namespace redco::safetensors
