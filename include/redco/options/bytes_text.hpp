#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string_view>

namespace redco::options {

/// Returns the number of bytes written in `text`, such as "1.5GiB": an unsigned number with at most
/// three decimals, directly followed by KiB, MiB, GiB or TiB.
///
/// Throws `error` with exit code 64 for any other text, for zero, and for 2^63 bytes or more.
std::int64_t parse_bytes(std::string_view text);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/bytes_text.inl.hpp>
#endif
