#pragma once

#include <redco/log/run_log.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace redco::run {

/// A folder with a model's weights and notices for the log, such as `pretrained`. The concept
/// avoids an include of the pretrained headers in programs without such folders.
template <class T>
concept weighted = requires(T const& folder) {
  { folder.weights() } -> std::convertible_to<safetensors::weights_source const&>;
  { folder.notices() } -> std::convertible_to<std::vector<std::string>>;
};

/// Logs the unused parts of a folder, and warns about layers that start fresh.
template <weighted Folder>
void tell_notices(log::run_log& told, Folder const& folder) {
  for (std::string const& notice : folder.notices()) told.line(notice);
  for (std::string const& layer : folder.weights().fresh)
    told.warning(layer + " starts fresh: its weights are random until it is trained");
}

}  // namespace redco::run
