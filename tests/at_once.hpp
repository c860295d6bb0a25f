#pragma once

#include <chrono>

/// Measures whether something ends without waiting for a deadline. Every deadline that it could wait for is at least 120 s, so a busy
/// machine does not fail such a test.
class wait_clock {
 public:
  bool at_once() const { return std::chrono::steady_clock::now() - began_ < std::chrono::seconds(100); }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};
