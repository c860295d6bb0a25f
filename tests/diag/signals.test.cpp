#include "catch.hpp"

#include <redco/diag/signals.hpp>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include <sys/wait.h>
#include <unistd.h>

namespace {

volatile std::sig_atomic_t earlier_calls = 0;
volatile std::sig_atomic_t earlier_number = 0;

void earlier_handler(int number) {
  earlier_calls = earlier_calls + 1;
  earlier_number = number;
}

void earlier_information_handler(int number, siginfo_t* information, void*) {
  earlier_calls = earlier_calls + 1;
  earlier_number = information->si_signo == number ? number : -1;
}

// Clears a request of an earlier test, so that the next watch does not see it.
void answer_requests() { redco::diag::stop_signals().answered(); }

// Restores the default action of these signals during its lifetime. The test library handles them
// too and would end the test.
struct default_signals {
  struct sigaction before[std::size(redco::diag::detail::stop_signal_numbers)] = {};
  default_signals() {
    answer_requests();
    for (std::size_t index = 0; index < std::size(before); ++index) {
      struct sigaction standard {};
      standard.sa_handler = SIG_DFL;
      ::sigaction(redco::diag::detail::stop_signal_numbers[index], &standard, &before[index]);
    }
  }
  default_signals(default_signals const&) = delete;
  default_signals& operator=(default_signals const&) = delete;
  ~default_signals() {
    for (std::size_t index = 0; index < std::size(before); ++index) {
      ::sigaction(redco::diag::detail::stop_signal_numbers[index], &before[index], nullptr);
    }
  }
};

// Returns the wait status of a child that runs `body` and then exits with 9.
template <class Body>
int status_of_child(Body body) {
  pid_t const child = ::fork();
  if (child == 0) {
    for (int number : redco::diag::detail::stop_signal_numbers) ::signal(number, SIG_DFL);
    answer_requests();
    body();
    ::_exit(9);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a signal sets a flag that names the first one") {
  default_signals quiet;
  redco::diag::stop_signals signals;
  CHECK(signals.requested() == 0);
  ::raise(SIGUSR1);
  CHECK(signals.requested() == SIGUSR1);
  ::raise(SIGTERM);
  CHECK(signals.requested() == SIGUSR1);
  CHECK(redco::diag::signal_name(signals.requested()) == "SIGUSR1");
  CHECK(redco::diag::signal_name(SIGINT) == "SIGINT");
  CHECK(redco::diag::signal_name(SIGHUP) == "SIGHUP");
  CHECK(redco::diag::signal_name(SIGTERM) == "SIGTERM");
  CHECK(redco::diag::signal_name(0).empty());
}

TEST_CASE("every watched signal is caught, and the watch after its answer starts without a request") {
  default_signals quiet;
  for (int number : redco::diag::detail::stop_signal_numbers) {
    redco::diag::stop_signals signals;
    CHECK(signals.requested() == 0);
    ::raise(number);
    CHECK(signals.requested() == number);
    signals.answered();
  }
}

TEST_CASE("earlier handlers are also called and are restored afterwards") {
  default_signals quiet;
  ::signal(SIGTERM, earlier_handler);
  earlier_calls = 0;
  {
    redco::diag::stop_signals signals;
    ::raise(SIGTERM);
    CHECK(signals.requested() == SIGTERM);
    CHECK(earlier_calls == 1);
    CHECK(earlier_number == SIGTERM);
  }
  ::raise(SIGTERM);
  CHECK(earlier_calls == 2);

  struct sigaction with_information {};
  with_information.sa_sigaction = earlier_information_handler;
  with_information.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTERM, &with_information, nullptr);
  {
    redco::diag::stop_signals signals;
    ::raise(SIGTERM);
    CHECK(earlier_calls == 3);
    CHECK(earlier_number == SIGTERM);
  }
}

TEST_CASE("a signal that was ignored stays ignored") {
  default_signals quiet;
  ::signal(SIGINT, SIG_IGN);
  {
    redco::diag::stop_signals signals;
    ::raise(SIGINT);
    CHECK(signals.requested() == 0);
  }
  CHECK(::signal(SIGINT, SIG_DFL) == SIG_IGN);
}

// The runtime intercepts signals before the system's default action
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a second SIGINT or SIGTERM ends the process by that signal") {
  int const status = status_of_child([] {
    redco::diag::stop_signals signals(0);
    ::raise(SIGINT);
    if (signals.requested() != SIGINT) ::_exit(8);
    ::raise(SIGTERM);
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}
#endif

TEST_CASE("a request passed on twice at once, or announced by SIGUSR1, is one request") {
  int const status = status_of_child([] {
    redco::diag::stop_signals signals(100);
    ::raise(SIGINT);
    ::raise(SIGINT);
    ::raise(SIGTERM);
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 9);
  int const announced = status_of_child([] {
    redco::diag::stop_signals signals(0);
    ::raise(SIGUSR1);
    ::raise(SIGUSR1);
    ::raise(SIGTERM);
  });
  REQUIRE(WIFEXITED(announced));
  CHECK(WEXITSTATUS(announced) == 9);
}

TEST_CASE("a signal has its earlier effect after the watch") {
  int const status = status_of_child([] {
    { redco::diag::stop_signals signals; }
    ::raise(SIGTERM);
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("an unanswered request stays for the next watch, an answered one does not") {
  int const status = status_of_child([] {
    {
      redco::diag::stop_signals signals;
      ::raise(SIGHUP);
    }
    {
      redco::diag::stop_signals next;
      if (next.requested() != SIGHUP) ::_exit(8);
      next.answered();
    }
    redco::diag::stop_signals last;
    if (last.requested() != 0) ::_exit(7);
    ::raise(SIGTERM);
    if (last.requested() != SIGTERM) ::_exit(6);
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 9);
}

TEST_CASE("a request that is answered, or whose watch is over, is not made a second time") {
  int const status = status_of_child([] {
    {
      redco::diag::stop_signals signals(0);
      ::raise(SIGTERM);
      signals.answered();
      ::raise(SIGTERM);
      ::raise(SIGHUP);
    }
    ::raise(SIGTERM);
    redco::diag::stop_signals again(100);
    if (again.requested() != 0) ::_exit(8);
    ::raise(SIGTERM);
    if (again.requested() != SIGTERM) ::_exit(7);
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 9);
}
