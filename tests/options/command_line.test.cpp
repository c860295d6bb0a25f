#include "catch.hpp"

#include <redco/options/command_line.hpp>

#include <cstdlib>
#include <string>

namespace {

std::string resumed(std::string const& command) {
  ::setenv("REDCO_COMMAND", command.c_str(), 1);
  std::string const text = redco::options::resume_command();
  ::unsetenv("REDCO_COMMAND");
  return text;
}

}  // namespace

TEST_CASE("the command to resume is the command with one --resume auto, after any number of resumes") {
  std::string const wanted = "./train --epochs 3 --resume auto";
  CHECK(resumed("./train --epochs 3") == wanted);
  CHECK(resumed("./train --resume none --epochs 3") == wanted);
  CHECK(resumed("./train --epochs 3 --resume=none") == wanted);
  CHECK(resumed("./train --resume 'a folder/ckpts/last' --epochs 3 --resume=none") == wanted);
  CHECK(resumed("./train --epochs 3 --resume") == wanted);
  CHECK(resumed(resumed(resumed("./train --epochs 3"))) == wanted);
}

TEST_CASE("quoted words stay unchanged") {
  CHECK(resumed("./train --text 'it'\\''s --resume none'  --lr 1") ==
        "./train --text 'it'\\''s --resume none' --lr 1 --resume auto");
  CHECK(resumed("sh -c \"./train --resume none\"") == "sh -c \"./train --resume none\" --resume auto");
  CHECK(resumed("./train --text a\\ b --resume\\ x") == "./train --text a\\ b --resume\\ x --resume auto");
}
