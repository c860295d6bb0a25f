#include "torch_catch.hpp"

#include <redco/nn/with_distance_bias.hpp>

// T5's buckets of distance: half of them exact, the others as wide as the logarithm of the distance, and where both ways are seen one
// half for each (Raffel et al. 2020).

TEST_CASE("buckets of distance know which way it is, or see one way only") {
  using redco::detail::distance_buckets;
  CHECK(at::equal(distance_buckets(8, 8, 20, true),
                  at::tensor({3, 2, 2, 2, 2, 2, 1, 0, 5, 6, 6, 6, 6, 6, 7}, at::kLong)));
  CHECK(at::equal(distance_buckets(8, 8, 20, false),
                  at::tensor({5, 5, 4, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0}, at::kLong)));
}
