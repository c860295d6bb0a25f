#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/log/append_file.hpp>

#include <csignal>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

TEST_CASE("a record written only in part is removed, and later ones are written once there is space") {
  temporary_folder folder;
  auto const path = folder.path / "file";
  std::vector<std::string> warnings;
  redco::log::append_file file(path, [&](std::string const& text) { warnings.push_back(text); });
  CHECK(file.empty());
  REQUIRE(file.append("0123456789"));
  CHECK_FALSE(file.empty());

  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto const handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit const small{17, before.rlim_max};  // as on a full disk: the first symptom is a short write
  ::setrlimit(RLIMIT_FSIZE, &small);
  bool const fits = file.append("abcdefghij");
  std::string const then = content_of(path);
  bool const smaller_fits = file.append("klm");
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);

  CHECK_FALSE(fits);
  CHECK(then == "0123456789");
  CHECK(smaller_fits);
  CHECK(file.append("nop"));
  CHECK(content_of(path) == "0123456789klmnop");
  CHECK(file.lost() == 1);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("cannot write " + path.string() + ": File too large") == 0);
}

TEST_CASE("a file of records has the permissions that the umask leaves") {
  temporary_folder folder;
  for (mode_t const mask : {mode_t{0}, mode_t{002}, mode_t{077}}) {
    auto const path = folder.path / std::to_string(mask);
    mode_t const before = ::umask(mask);
    redco::log::append_file(path).append("x");
    ::umask(before);
    struct stat facts {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == (0666 & ~mask));
  }
}
