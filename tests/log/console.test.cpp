#include "catch.hpp"
#include "fake_terminal.hpp"

#include <redco/log/console.hpp>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

TEST_CASE("lines appear above the status line, which stays") {
  fake_terminal terminal;
  {
    redco::log::console console(terminal.options());
    console.print("first");
    console.status("50 %");
    CHECK(terminal.screen() == "first\n50 %");
    console.print("a longer second line");
    console.print("3\n4");
    CHECK(terminal.screen() == "first\na longer second line\n3\n4\n50 %");
    console.status("7%");
    CHECK(terminal.screen() == "first\na longer second line\n3\n4\n7%");
    console.status("");
    CHECK(terminal.screen() == "first\na longer second line\n3\n4\n");
    console.status("last");
  }
  CHECK(terminal.screen() == "first\na longer second line\n3\n4\nlast\n");
}

TEST_CASE("a status line is cut to the current width") {
  fake_terminal terminal;
  terminal.columns = 6;
  redco::log::console console(terminal.options());
  console.status("▕██▏ 123456");
  CHECK(terminal.screen() == "▕██▏ ");
  terminal.columns = 9;
  console.status("▕██▏ 123456");
  CHECK(terminal.screen() == "▕██▏ 123");
}

TEST_CASE("without a terminal there are only lines and no control characters") {
  std::ostringstream out;
  {
    redco::log::console_options options;
    options.out = &out;
    redco::log::console console(options);
    console.status("50 %");
    console.print("line");
    console.keep_status();
  }
  CHECK(out.str() == "line\n");
}

TEST_CASE("a console whose stream fails continues and writes again once the stream works") {
  std::ostringstream out;
  redco::log::console_options options;
  options.out = &out;
  redco::log::console console(options);
  out.setstate(std::ios::badbit);
  console.print("again");
  CHECK(out.str() == "again\n");
}

TEST_CASE("lines printed by two threads are never torn") {
  fake_terminal terminal;
  redco::log::console console(terminal.options());
  auto work = [&](char letter) {
    for (int line = 0; line < 200; ++line) {
      console.print(std::string(30, letter));
      console.status(std::string(20, letter));
    }
  };
  std::thread other(work, 'b');
  work('a');
  other.join();
  console.status("");
  std::istringstream lines(terminal.screen());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (line != std::string(30, 'a') && line != std::string(30, 'b')) FAIL("torn: " << line);
  }
  CHECK(count == 400);
}

TEST_CASE("the standard console follows LC_ALL before LC_CTYPE before LANG") {
  struct kept_variable {
    std::string name, value;
    bool was_set;
    explicit kept_variable(char const* variable)
        : name(variable), value(std::getenv(variable) ? std::getenv(variable) : ""), was_set(std::getenv(variable)) {}
    ~kept_variable() { was_set ? ::setenv(name.c_str(), value.c_str(), 1) : ::unsetenv(name.c_str()); }
  } const kept[] = {kept_variable("LC_ALL"), kept_variable("LC_CTYPE"), kept_variable("LANG")};
  ::unsetenv("LC_ALL");
  ::unsetenv("LC_CTYPE");
  ::setenv("LANG", "de_DE.UTF-8", 1);
  CHECK(redco::log::standard_console().utf8);
  ::setenv("LC_CTYPE", "C", 1);
  CHECK_FALSE(redco::log::standard_console().utf8);
  ::setenv("LC_ALL", "en_US.utf8", 1);
  CHECK(redco::log::standard_console().utf8);
  ::unsetenv("LC_ALL");
  ::unsetenv("LC_CTYPE");
  ::unsetenv("LANG");
  CHECK_FALSE(redco::log::standard_console().utf8);
  CHECK_FALSE(redco::log::standard_console(true).terminal);
}

TEST_CASE("the standard console is standard error, so that standard output has results alone") {
  CHECK(redco::log::standard_console().out == &std::cerr);
  CHECK(redco::log::standard_console(true).out == &std::cerr);
}
