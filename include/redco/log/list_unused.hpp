#pragma once

#include <redco/log/run_log.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace redco::log {

/// Returns a sentence about keys of a configuration file that have no effect, such as "config.json:
/// use_cache, torchscript change nothing here".
inline std::string unused_text(std::string_view file, std::vector<std::string> const& keys) {
  std::string text(file);
  for (std::string const& key : keys) text += (&key == &keys.front() ? ": " : ", ") + key;
  return text + (keys.size() == 1 ? " changes" : " change") + " nothing here";
}

/// Logs one line that lists the keys of a configuration file that have no effect. Does nothing if
/// `keys` is empty.
inline void list_unused(run_log& log, std::string_view file, std::vector<std::string> const& keys) {
  if (!keys.empty()) log.line(unused_text(file, keys));
}

}  // namespace redco::log
