#pragma once

#include <cstdint>

namespace redco::shape {

/// Returns n KiB (2^10 bytes) in bytes. Requires n >= 0 and a result below 2^63; a constant
/// expression with a larger result does not compile.
constexpr std::int64_t KiB(std::int64_t n) { return n * 1024; }
/// Returns n MiB (2^20 bytes) in bytes. Requires n >= 0 and a result below 2^63.
constexpr std::int64_t MiB(std::int64_t n) { return KiB(n) * 1024; }

}  // namespace redco::shape

namespace redco {

/// Returns n GiB (2^30 bytes) in bytes: `redco::GiB(4)`. Requires n >= 0 and a result below 2^63.
constexpr std::int64_t GiB(std::int64_t n) { return shape::MiB(n) * 1024; }

}  // namespace redco
