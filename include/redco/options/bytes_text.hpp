#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string_view>

namespace redco::options {

/// The bytes that `text` says: a number without sign, at most three decimals, and a unit of KiB, MiB, GiB or TiB, without
/// blanks: "40GiB", "1.5GiB".
///
/// Errors: exit_code::usage for anything else, zero, and what does not fit into 63 bits.
std::int64_t parse_bytes(std::string_view text);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/bytes_text.inl.hpp>
#endif
