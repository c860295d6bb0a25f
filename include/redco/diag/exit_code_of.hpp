#pragma once

#include <redco/diag/exception_words.hpp>

#include <functional>

namespace redco::diag {

/// Runs `program` and returns its result. If it throws, prints the message to standard error and
/// returns the exit code: the code of an `error`, 70 for any other exception. Errors that another
/// process prints are not printed. An error of code 0 is the text of --help and goes to standard
/// output.
int exit_code_of(std::function<int()> const& program, exception_words words = what_of);

}  // namespace redco::diag

#ifndef REDCO_COMPILED
#include <redco/diag/exit_code_of.inl.hpp>
#endif
