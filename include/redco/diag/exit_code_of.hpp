#pragma once

#include <exception>
#include <functional>

namespace redco::diag {

/// A pointer to a function that returns the message of an exception for the user. Shortens messages
/// of libraries whose what() has more than a user needs.
using exception_words = char const* (*)(std::exception const&) noexcept;

/// Returns `failure.what()`. The default choice of a function that returns the message of an
/// exception.
inline char const* what_of(std::exception const& failure) noexcept { return failure.what(); }

/// Runs `program` and returns its exit code. If `program` throws, prints the message and returns
/// the code of an `error`, or 70 for any other exception. Messages go to standard error, except an
/// `error` with code 0, which is the text of --help. Errors that another process prints are not
/// printed. `words` returns the message of an exception that is not an `error`.
int exit_code_of(std::function<int()> const& program, exception_words words = what_of);

}  // namespace redco::diag

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/diag/exit_code_of.inl.hpp>
#endif
