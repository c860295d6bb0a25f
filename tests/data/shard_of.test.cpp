#include <redco/data/batches.hpp>

#include "catch.hpp"

#include <cstdint>

TEST_CASE("shards are contiguous, cover the whole and differ by at most one") {
  for (std::int64_t size = 0; size < 40; ++size)
    for (std::int64_t parts = 1; parts < 9; ++parts) {
      std::int64_t end = 17;
      for (std::int64_t i = 0; i < parts; ++i) {
        redco::data::interval const part = redco::data::shard_of({17, 17 + size}, parts, i);
        REQUIRE(part.begin == end);
        REQUIRE(part.size() >= size / parts);
        REQUIRE(part.size() <= (size + parts - 1) / parts);
        if (i > 0) REQUIRE(part.size() <= redco::data::shard_of({17, 17 + size}, parts, i - 1).size());
        end = part.end;
      }
      REQUIRE(end == 17 + size);
    }
}
