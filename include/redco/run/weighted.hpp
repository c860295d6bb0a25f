#pragma once

#include <redco/safetensors/weights_source.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace redco::run {

/// A folder with a model's weights and a config of which some keys change nothing, as `pretrained` is. Who knows no such folders
/// includes none.
template <class T>
concept weighted = requires(T const& folder) {
  { folder.weights() } -> std::convertible_to<safetensors::weights_source const&>;
  { folder.unused() } -> std::convertible_to<std::vector<std::string> const&>;
};

}  // namespace redco::run
