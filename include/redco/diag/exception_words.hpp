#pragma once

#include <exception>

namespace redco::diag {

/// A pointer to a function that returns the message of an exception for the user. Shortens messages
/// of libraries whose what() has more than a user needs.
using exception_words = char const* (*)(std::exception const&) noexcept;

/// Returns `failure.what()`. The default choice of a function that returns the message of an
/// exception.
inline char const* what_of(std::exception const& failure) noexcept { return failure.what(); }

}  // namespace redco::diag
