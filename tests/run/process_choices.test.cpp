#include "comm/laws.hpp"
#include "comm/on_ranks.hpp"

#include <redco/run/process_choices.hpp>
#include <redco/shape/axis.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace process_choices_test {

using redco::rank_context;
using redco::run::process_choices;

/// Returns how the agreement of rank 0 differs from the one of rank 1: a list of "NAME is VALUE and
/// VALUE", or "" if they agree.
std::string difference(redco::comm::agreement const& first, redco::comm::agreement const& second) {
  std::string found;
  comm_test::on_ranks(2, [&](rank_context& me) {
    std::string const text = (me.rank == 0 ? first : second).difference(me.world);
    if (me.rank == 0) found = text;
  });
  if (found.empty()) return "";
  std::string const before = "have different ", after = ": start all processes by the same command";
  std::size_t const begin = found.find(before) + before.size(), end = found.find(after);
  REQUIRE(begin < end);
  return found.substr(begin, end - begin);
}

TEST_CASE("processes whose programs, libtorch or options differ do not agree") {
  std::string const torch = "PyTorch built with:\n  - CPU capability usage: AVX2\n  - Build settings: BUILD_TYPE=";
  std::map<std::string, std::string> const options{{"--lr", "0.1"}, {"--seed", "3"}};
  auto const own = redco::run::opening_agreement("0f", torch + "Release", options);
  CHECK(difference(own, redco::run::opening_agreement("0f", torch + "Release", options)).empty());
  CHECK(difference(own, redco::run::opening_agreement("1f", torch + "Release", options)) ==
        "programs or options: the digest of the program's file is 0f and 1f");
  CHECK(difference(own, redco::run::opening_agreement("0f", torch + "Debug", options)) ==
        "programs or options: libtorch is Build settings: BUILD_TYPE=Release and Build settings: BUILD_TYPE=Debug");
  CHECK(difference(own, redco::run::opening_agreement("0f", torch + "Release", {{"--lr", "0.2"}, {"--seed", "3"}})) ==
        "programs or options: --lr is 0.1 and 0.2");
  // The instruction set, which libtorch's text names too, is compared only where it matters.
  std::string const other = "PyTorch built with:\n  - CPU capability usage: DEFAULT\n  - Build settings: BUILD_TYPE=";
  CHECK(difference(own, redco::run::opening_agreement("0f", other + "Release", options)).empty());
}

TEST_CASE("processes whose choices for their machines differ do not agree") {
  process_choices const own{.mesh = {.dp = 4, .tp = 2},
                            .zero = {.bucket = 24},
                            .compute = redco::dtype::f64,
                            .shards_span_processes = true,
                            .threads = 5,
                            .instruction_set = "AVX2",
                            .bf16_products = redco::tensors::bf16_path::blas,
                            .f32_products = redco::tensors::f32_path::blas};
  auto const differs = [&](auto const& change) {
    process_choices other = own;
    change(other);
    return difference(redco::run::agreement_of(own), redco::run::agreement_of(other));
  };
  CHECK(differs([](process_choices&) {}).empty());
  std::string const prefix = "machines or environments: ";
  CHECK(differs([](process_choices& c) { c.mesh = {.dp = 2, .tp = 4}; }).starts_with(prefix + "mesh is 4x2 and 2x4"));
  CHECK(differs([](process_choices& c) {
          c.mesh = {.dp = 2, .ds = 2, .tp = 2};
          c.zero.shared_over = redco::shape::axis::ds | redco::shape::axis::ep;
        }) == prefix + "replicas of a group (--zero-within) is 4 and 2");
  CHECK(differs([](process_choices& c) { c.device = c10::DeviceType::CUDA; }) ==
        prefix + "device (--device) is cpu and cuda");
  CHECK(differs([](process_choices& c) { c.compute = redco::dtype::bf16; }) ==
        prefix + "dtype (--dtype) is f64 and bf16");
  CHECK(differs([](process_choices& c) { c.kernels = redco::tensors::kernel_set::composed; }) ==
        prefix + "REDCO_KERNELS is fastest and composed");
  CHECK(differs([](process_choices& c) { c.zero.bucket = 0; }) == prefix + "bytes of a gradient bucket is 24 and 0");
  CHECK(differs([](process_choices& c) { c.overlaps_shards = true; }) ==
        prefix + "overlap of messages between shards is off and on");
  CHECK(differs([](process_choices& c) { c.threads = 4; }) == prefix + "threads of a rank (--threads) is 5 and 4");
  CHECK(differs([](process_choices& c) { c.instruction_set = "AVX512"; }) ==
        prefix + "instruction set is AVX2 and AVX512");
  CHECK(differs([](process_choices& c) { c.bf16_products = redco::tensors::bf16_path::packed; }) ==
        prefix + "REDCO_BF16_PRODUCTS is blas and packed");
  CHECK(differs([](process_choices& c) { c.f32_products = redco::tensors::f32_path::packed; }) ==
        prefix + "REDCO_F32_PRODUCTS is blas and packed");
}

TEST_CASE("processes with whole replicas may differ in threads, instruction sets and matrix products") {
  process_choices own{.threads = 5,
                      .instruction_set = "AVX2",
                      .bf16_products = redco::tensors::bf16_path::blas,
                      .f32_products = redco::tensors::f32_path::blas},
      other = own;
  other.threads = 4, other.instruction_set = "AVX512";
  other.bf16_products = redco::tensors::bf16_path::packed, other.f32_products = redco::tensors::f32_path::packed;
  CHECK(difference(redco::run::agreement_of(own), redco::run::agreement_of(other)).empty());
}

}  // namespace process_choices_test
