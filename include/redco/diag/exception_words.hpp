#pragma once

#include <exception>

namespace redco::diag {

/// How the words of an exception are read, where a library's own `what()` says more than its user wants.
using exception_words = char const* (*)(std::exception const&) noexcept;

/// `failure.what()`
inline char const* what_of(std::exception const& failure) noexcept { return failure.what(); }

}  // namespace redco::diag
