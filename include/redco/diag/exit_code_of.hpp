#pragma once

#include <redco/diag/exception_words.hpp>

#include <functional>

namespace redco::diag {

/// What `program` returns; what it throws is told on standard error, in one sentence, and becomes the exit code: an error's
/// own, 70 for others. What another process tells is not told again. An error of code 0 is the answer to --help, told on standard output.
int exit_code_of(std::function<int()> const& program, exception_words words = what_of);

}  // namespace redco::diag

#ifndef REDCO_COMPILED
#include <redco/diag/exit_code_of.inl.hpp>
#endif
