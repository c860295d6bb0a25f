#include "torch_catch.hpp"

#include "../../benchmarks/drawn_verifications.hpp"
#include "temporary_folder.hpp"

#include <cstdint>

// A part of the runs of scripts/bench verify, which verifies a hundred.

TEST_CASE("verify calls no correct run a mistake that is drawn over families, dtypes, optimizers and meshes") {
  temporary_folder const folder;
  for (std::uint64_t number = 0; number < 12; ++number) {
    auto const run = drawn_verifications::verified(number, folder.path);
    INFO(run.text << "\n" << run.result.text(100) << run.result.verdict());
    CHECK(run.result.ok());
  }
}
