#pragma once

#include <redco/run/main_of.hpp>

#include <redco/run/run_output.hpp>
#include <redco/comm/make_world.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/options/launch.hpp>
#include <redco/diag/exit_code_of.hpp>
#include <redco/config.hpp>

#include <exception>
#include <ios>
#include <iostream>
#include <streambuf>
#include <string>

namespace redco::run::detail {

/// A guard that discards this process's standard output during its lifetime, except in the first
/// process of a run. Without it, each of several processes would print the same lines.
class quiet_process {
 public:
  quiet_process() {
    if (!options::launched().first()) before_ = std::cout.rdbuf(&nowhere_);
  }
  quiet_process(quiet_process const&) = delete;
  quiet_process& operator=(quiet_process const&) = delete;
  ~quiet_process() {
    if (before_ != nullptr) std::cout.rdbuf(before_);
  }

 private:
  struct nowhere final : std::streambuf {
    int_type overflow(int_type one) override { return traits_type::not_eof(one); }
    std::streamsize xsputn(char const*, std::streamsize count) override { return count; }
  } nowhere_;
  std::streambuf* before_ = nullptr;
};

REDCO_INLINE int run_program(std::function<int()> const& program) {
  std::string reason;
  int const code = diag::exit_code_of(
      [&] {
        quiet_process const quiet;
        try {
          return program();
        } catch (std::exception const& e) {
          reason = tensors::words_of(e);
          throw;
        }
      },
      tensors::words_of);
  tell_end(static_cast<exit_code>(code), reason);
  comm::leave_processes(code);
  return code;
}

}  // namespace redco::run::detail
