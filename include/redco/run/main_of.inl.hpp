#pragma once

#include <redco/run/main_of.hpp>

#include <redco/run/run_output.hpp>
#include <redco/tensor/words_of.hpp>
#include <redco/diag/exit_code_of.hpp>
#include <redco/config.hpp>

#include <exception>
#include <string>

namespace redco::run::detail {

REDCO_INLINE int run_program(std::function<int()> const& program) {
  std::string reason;
  int const code = diag::exit_code_of(
      [&] {
        try {
          return program();
        } catch (std::exception const& e) {
          reason = words_of(e);
          throw;
        }
      },
      words_of);
  tell_end(static_cast<exit_code>(code), reason);
  return code;
}

}  // namespace redco::run::detail
