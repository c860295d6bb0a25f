#pragma once

#include <redco/log/run_log.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace redco::log {

/// Returns "FILE: KEY, KEY change nothing here" for keys of a folder's file.
inline std::string unused_text(std::string_view file, std::vector<std::string> const& keys) {
  std::string text(file);
  for (std::string const& key : keys) text += (&key == &keys.front() ? ": " : ", ") + key;
  return text + (keys.size() == 1 ? " changes" : " change") + " nothing here";
}

/// Lists in one line of a log the keys of a folder's file that change nothing here.
inline void list_unused(run_log& log, std::string_view file, std::vector<std::string> const& keys) {
  if (!keys.empty()) log.line(unused_text(file, keys));
}

}  // namespace redco::log
