#pragma once

#include <exception>

namespace redco::diag {

/// A function that returns the message of an exception. Replaces `what()` for libraries whose
/// message is longer than a user needs.
using exception_words = char const* (*)(std::exception const&) noexcept;

/// Returns `failure.what()`.
inline char const* what_of(std::exception const& failure) noexcept { return failure.what(); }

}  // namespace redco::diag
