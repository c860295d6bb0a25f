#pragma once

#include <redco/run/main_of.hpp>

#include <redco/tensor/words_of.hpp>
#include <redco/diag/exit_code_of.hpp>
#include <redco/config.hpp>

namespace redco::detail {

REDCO_INLINE int run_program(std::function<int()> const& program) { return exit_code_of(program, words_of); }

}  // namespace redco::detail
