#pragma once

#include <cstdint>

namespace redco {

/// Bytes in units of 2^10, 2^20 and 2^30: `redco::GiB(4)`. Requires 0 <= n small enough for 63 bits; in a constant
/// expression more is a compile error.
constexpr std::int64_t KiB(std::int64_t n) { return n * 1024; }
constexpr std::int64_t MiB(std::int64_t n) { return KiB(n) * 1024; }
constexpr std::int64_t GiB(std::int64_t n) { return MiB(n) * 1024; }

}  // namespace redco
