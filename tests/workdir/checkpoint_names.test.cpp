#include "catch.hpp"

#include <redco/workdir/checkpoint_names.hpp>

TEST_CASE("a tensor's name chooses its file, and file names count the ranks that write each kind") {
  using redco::workdir::file_name, redco::workdir::kind_of;
  CHECK(kind_of("optimizer.m.wte.weight") == "optimizer");
  CHECK(kind_of("master.wte.weight") == "masters");
  CHECK(kind_of("masterpiece.weight") == "parameters");
  CHECK(file_name("parameters", {"parameters\noptimizer\n", "", "parameters\n"}, 2) == "parameters-1of2.safetensors");
  CHECK(file_name("optimizer", {"parameters\noptimizer\n", "", "parameters\n"}, 0) == "optimizer-0of1.safetensors");
}
