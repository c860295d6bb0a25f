#include "torch_catch.hpp"

#include <redco/comm/lifeline.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace lifeline_test {

TEST_CASE("the first failure of a run is its cause, with the failed rank") {
  redco::comm::lifeline line(2);
  CHECK(line.fail(1, redco::exit_code::data, "no data"));
  CHECK(!line.fail(0, redco::exit_code::io, "no disk"));
  CHECK(line.cause().code() == redco::exit_code::data);
  CHECK(std::string(line.cause().what()) == "rank 1: no data");
}

// The sanitizers' runtimes end the process in place of std::bad_alloc
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a failure without memory for its message ends the run") {
  redco::comm::lifeline line(2);
  CHECK(line.fail(1, redco::exit_code::internal, std::string_view("x", std::size_t{1} << 61)));
  CHECK(line.failed());
  CHECK(line.cause().code() == redco::exit_code::internal);
  CHECK(std::string(line.cause().what()).find("no memory for its message") != std::string::npos);
}
#endif

}  // namespace lifeline_test
