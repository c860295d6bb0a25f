#pragma once

#include <redco/diag/exit_code_of.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <exception>
#include <iostream>
#include <string_view>

namespace redco::diag {

REDCO_INLINE int exit_code_of(std::function<int()> const& program, exception_words words) {
  auto const report = [](exit_code code, std::string_view sentence) {
    std::cout.flush();  // keeps earlier output before the error message
    std::cerr << (code == exit_code::preempted ? "" : "error: ") << sentence << std::endl;
    return static_cast<int>(code);
  };
  try {
    return program();
  } catch (error const& e) {
    if (e.silent()) return static_cast<int>(e.code());
    if (e.code() != exit_code::done) return report(e.code(), e.what());
    std::cout << e.what() << std::endl;
    return 0;
  } catch (std::exception const& e) {
    return report(exit_code::internal, words(e));
  } catch (...) {
    return report(exit_code::internal, "threw something that is not a std::exception");
  }
}

}  // namespace redco::diag
