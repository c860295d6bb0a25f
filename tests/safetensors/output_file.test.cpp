#include "catch.hpp"

#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <sys/types.h>

namespace {

/// File operations that write nothing and count the syncs of files.
struct counting_ops : redco::safetensors::posix_file_ops {
  int syncs = 0;

  int create(char const*) { return 1000; }
  ::ssize_t write(int, void const*, std::size_t count) { return static_cast<::ssize_t>(count); }
  int sync(int) { return ++syncs, 0; }
  int close(int) { return 0; }
};

}  // namespace

TEST_CASE("a large file is made durable GiB by GiB, so that its end does not wait for all of it") {
  counting_ops ops;
  redco::safetensors::output_file<counting_ops> file(ops, "large");
  std::vector<std::byte> const piece(std::size_t{64} << 20);
  for (int i = 0; i < 15; ++i) file.write(std::span(piece));
  CHECK(ops.syncs == 0);
  file.write(std::span(piece));
  CHECK(ops.syncs == 1);
  file.write(std::span(piece));
  CHECK(ops.syncs == 1);
  file.finish();
  CHECK(ops.syncs == 2);
  CHECK(file.size() == std::size_t{17} << 26);
}
