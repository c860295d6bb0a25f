#include "catch.hpp"

#include <redco/tokenizer/ended.hpp>

#include <cstdint>
#include <vector>

TEST_CASE("a target ends with exactly one end token, which is learned") {
  using ids = std::vector<std::int64_t>;
  ids const stop{4, 3};
  using redco::tokenizer::ended, redco::tokenizer::marked_ids;
  CHECK(ended(ids{1, 2}, stop) == ids{1, 2, 4});
  CHECK(ended(ids{1, 2, 3}, stop) == ids{1, 2, 3});
  CHECK(ended(ids{1, 2, 3, 3, 3}, stop) == ids{1, 2, 3});
  CHECK(ended(ids{1, 3, 4}, stop) == ids{1, 3, 4});  // two different end tokens
  CHECK(ended(ids{4, 1, 1}, stop) == ids{4, 1, 1, 4});
  CHECK(ended(ids{}, stop) == ids{4});
  CHECK(ended(ids{1, 1}, {}) == ids{1, 1});
  CHECK(ended(marked_ids{{1, 2}, {false, true}}, stop) == marked_ids{{1, 2, 4}, {false, true, true}});
  CHECK(ended(marked_ids{{1, 3}, {false, false}}, stop) == marked_ids{{1, 3}, {false, true}});
}
