#pragma once

#include <redco/log/run_log.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace redco::log {

/// Returns a text such as "FILE: KEY, KEY change nothing here" about keys of a file that have no
/// effect.
inline std::string unused_text(std::string_view file, std::vector<std::string> const& keys) {
  std::string text(file);
  for (std::string const& key : keys) text += (&key == &keys.front() ? ": " : ", ") + key;
  return text + (keys.size() == 1 ? " changes" : " change") + " nothing here";
}

/// Logs one line with the keys of a file that have no effect. Does nothing if there are none.
inline void list_unused(run_log& log, std::string_view file, std::vector<std::string> const& keys) {
  if (!keys.empty()) log.line(unused_text(file, keys));
}

}  // namespace redco::log
