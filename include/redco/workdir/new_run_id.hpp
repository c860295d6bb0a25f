#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace redco::workdir {

/// Returns a new id for a run: 128 random bits as text, such as "0a1b2c3d-...".
inline std::string new_run_id() {
  std::random_device entropy;
  std::string id;
  for (int word = 0; word < 4; ++word) {
    std::uint32_t bits = entropy();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4) id += "0123456789abcdef"[bits & 15];
    if (word < 3) id += '-';
  }
  return id;
}

}  // namespace redco::workdir
