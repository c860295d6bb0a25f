#pragma once

#include <chrono>

/// Finds out if something ends without waiting for a deadline. Deadlines are at least 120 s in the
/// tests that use it, so a busy machine does not fail them.
class wait_clock {
 public:
  bool at_once() const { return std::chrono::steady_clock::now() - began_ < std::chrono::seconds(100); }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};
