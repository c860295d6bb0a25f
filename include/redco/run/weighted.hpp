#pragma once

#include <redco/log/run_log.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace redco::run {

/// Concept of a folder with a model's weights and notices for the log, such as `pretrained_folder`. With
/// the concept, trainers need not include the pretrained headers.
template <class T>
concept weighted = requires(T const& folder) {
  { folder.weights() } -> std::convertible_to<safetensors::weights_source const&>;
  { folder.notices() } -> std::convertible_to<std::vector<std::string>>;
};

/// Logs the keys, tensors and files of a folder that are not used. Warns about each layer in the
/// option `fresh`, which is not loaded and starts with random values.
template <weighted Folder>
void tell_notices(log::run_log& told, Folder const& folder) {
  for (std::string const& notice : folder.notices()) told.line(notice);
  for (std::string const& layer : folder.weights().fresh)
    told.warning(layer + " starts fresh: its weights are random until it is trained");
}

}  // namespace redco::run
