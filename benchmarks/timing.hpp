#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

/// Returns the median of `all`, the mean of the two middle numbers if their count is even, or 0 if
/// there are none.
inline double median(std::vector<double> all) {
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end());
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

/// Runs `f` and returns its time in milliseconds.
double milliseconds(auto const& f) {
  auto const begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}
