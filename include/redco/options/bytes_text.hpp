#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string_view>

namespace redco::options {

/// Returns the number of bytes written in `text`: an unsigned number with at most three decimals,
/// directly followed by KiB, MiB, GiB or TiB, such as "1.5GiB".
///
/// Throws `error` with exit code 64 for any other text, for zero, and for more bytes than 63 bits
/// can hold.
std::int64_t parse_bytes(std::string_view text);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/bytes_text.inl.hpp>
#endif
