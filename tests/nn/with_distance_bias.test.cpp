#include "torch_catch.hpp"

#include <redco/nn/with_distance_bias.hpp>

// The buckets of distance of T5 (Raffel et al. 2020). Half of them hold one distance each, the
// others grow with the logarithm of the distance. If both directions are seen, each direction has
// half of the buckets.

TEST_CASE("buckets of distance distinguish both directions or cover only one") {
  using redco::nn::detail::distance_buckets;
  CHECK(at::equal(distance_buckets(8, 8, 20, true),
                  at::tensor({3, 2, 2, 2, 2, 2, 1, 0, 5, 6, 6, 6, 6, 6, 7}, at::kLong)));
  CHECK(at::equal(distance_buckets(8, 8, 20, false),
                  at::tensor({5, 5, 4, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0}, at::kLong)));
}
