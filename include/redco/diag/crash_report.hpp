#pragma once

#include <redco/diag/exit_code_of.hpp>

#include <filesystem>

namespace redco::diag {

/// A reporter of abnormal ends of the process, active during its lifetime. Writes one line with
/// rank, step and user function to standard error, the log and failure_history. One object per
/// process.
/// - Reports SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, then runs the previous signal action.
/// - Reports uncaught exceptions, also in noexcept functions, then exits with their code or 70.
/// - Reports `exit()` on a rank's thread, which would look like success, then exits with 70.
/// - Keeps 16 MiB of address space for reports of exhausted memory.
class crash_report {
 public:
  explicit crash_report(exception_words words = what_of);
  crash_report(crash_report const&) = delete;
  crash_report& operator=(crash_report const&) = delete;
  ~crash_report();

  /// Sets the paths of two files, the log and the failure_history of the run. Reports of an
  /// abnormal end of the process are appended to both.
  void keep(std::filesystem::path const& log, std::filesystem::path const& failures);

  /// A guard that marks the calling thread as the thread of `rank` during its lifetime, so that
  /// calls of `exit()` on this thread are reported. Provides a signal stack, so that a stack
  /// overflow can be reported.
  class rank_thread {
   public:
    explicit rank_thread(int rank);
    rank_thread(rank_thread const&) = delete;
    rank_thread& operator=(rank_thread const&) = delete;
    ~rank_thread();

   private:
    void* stack_;
  };
};

}  // namespace redco::diag

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/diag/crash_report.inl.hpp>
#endif
