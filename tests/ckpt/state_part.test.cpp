#include "torch_catch.hpp"

#include <redco/ckpt/state_part.hpp>

#include <vector>

TEST_CASE("a checkpoint has the bytes of the unsharded tensors on every mesh") {
  // Rank 0 holds the first 3 of 7 rows: the checkpoint has all, 7 * 5 * 4 + 2 * 8 bytes.
  std::vector<redco::ckpt::state_part> const parts{{"a", {7, 5}, at::zeros({3, 5}), {{0, 0}, {3, 5}}},
                                                   {"b", {2}, at::zeros({2}, at::kDouble), {{0}, {2}}}};
  CHECK(redco::ckpt::checkpoint_bytes(parts) == 156);
}
