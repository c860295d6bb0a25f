#pragma once

#include <redco/run/main_of.hpp>

#include <redco/tensor/words_of.hpp>
#include <redco/diag/exit_code_of.hpp>
#include <redco/config.hpp>

namespace redco::run::detail {

REDCO_INLINE int run_program(std::function<int()> const& program) { return diag::exit_code_of(program, words_of); }

}  // namespace redco::run::detail
