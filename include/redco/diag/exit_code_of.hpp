#pragma once

#include <redco/diag/exception_words.hpp>

#include <functional>

namespace redco::diag {

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
