#pragma once

#include <cstdint>

namespace redco {

/// Returns n KiB, MiB or GiB (2^10, 2^20, 2^30) in bytes: `redco::GiB(4)`. Requires n >= 0 and a
/// result below 2^63; a constant expression with a larger one does not compile.
constexpr std::int64_t KiB(std::int64_t n) { return n * 1024; }
constexpr std::int64_t MiB(std::int64_t n) { return KiB(n) * 1024; }
constexpr std::int64_t GiB(std::int64_t n) { return MiB(n) * 1024; }

}  // namespace redco
