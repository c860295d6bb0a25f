#include "catch.hpp"

#include <redco/workdir/fit_record.hpp>

#include <redco/safetensors/names.hpp>

#include <string>

TEST_CASE("every run has an id of its own, which can name a folder") {
  std::string const id = redco::workdir::new_run_id();
  CHECK(id.size() == 35);
  CHECK(redco::safetensors::plain_name(id));
  CHECK(id != redco::workdir::new_run_id());
}
