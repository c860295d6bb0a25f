#pragma once

#include <redco/tokenizer/chat_template.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace redco::tokenizer {

/// Returns a target of training with exactly one end token at its end. Appends the first of the end
/// ids `stop` unless the target ends with one of them. Removes repetitions of its last end id. The
/// end token is learned. Returns an equal target if `stop` is empty.
inline marked_ids ended(marked_ids target, std::span<std::int64_t const> stop) {
  auto const ends = [&](std::int64_t id) { return std::find(stop.begin(), stop.end(), id) != stop.end(); };
  if (stop.empty()) return target;
  if (target.ids.empty() || !ends(target.ids.back())) {
    target.ids.push_back(stop.front());
    target.trained.push_back(true);
  }
  while (target.ids.size() > 1 && target.ids[target.ids.size() - 2] == target.ids.back()) {
    target.ids.pop_back();
    target.trained.pop_back();
  }
  target.trained.back() = true;
  return target;
}

/// Returns the ids of a target of training with exactly one end token, by the same rule.
inline std::vector<std::int64_t> ended(std::vector<std::int64_t> ids, std::span<std::int64_t const> stop) {
  std::size_t const size = ids.size();
  return ended(marked_ids{std::move(ids), std::vector<bool>(size, true)}, stop).ids;
}

}  // namespace redco::tokenizer
