#include "torch_catch.hpp"

#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>

TEST_CASE("a CPU is the one device that is computed on, and its memory is the host's") {
  CHECK(redco::device_of("cpu") == redco::host_device());
  for (char const* const name : {"cuda", "cpu:0", ""}) {
    try {
      redco::device_of(name);
      FAIL("taken: " << name);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
    }
  }
  CHECK(redco::in_host_memory(at::ones({2})));
  CHECK(!redco::in_host_memory(at::empty({2}, at::kMeta)));
}
