#pragma once

#include <redco/diag/exception_words.hpp>

#include <filesystem>

namespace redco::diag {

/// While it lives, a process that ends in the middle of a run says so: one line on standard error, in the log and in the
/// failure_history, with rank, step and function where they are known. It tells
///
/// - SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT (`abort`, a damaged heap), which then do what they did before;
/// - exceptions that nobody catches, also those in a noexcept function (out of memory in a destructor of libtorch): exit
///   with the error's own code, 70 for others;
/// - `exit()` on a rank's thread (of a user, of libgomp), which would look like a finished run: exit 70.
///
/// SIGKILL cannot be told. One at a time per process.
class last_words {
 public:
  explicit last_words(exception_words words = what_of);
  last_words(last_words const&) = delete;
  last_words& operator=(last_words const&) = delete;
  ~last_words();

  /// Keeps the line in these files too.
  void keep(std::filesystem::path const& log, std::filesystem::path const& failures);

  /// The calling thread is a rank's while it lives: `exit()` is told, and a stack overflow has a stack to be told from.
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

#ifndef REDCO_COMPILED
#include <redco/diag/last_words.inl.hpp>
#endif
