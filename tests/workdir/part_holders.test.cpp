#include "catch.hpp"

#include <redco/workdir/part_holders.hpp>

#include <cstdint>
#include <vector>

TEST_CASE("ranks that hold equal parts agree on one reader per part and take turns") {
  // Hashes of four parts on three shards: the first and the last are replicated, the second is
  // split, two shards share the third.
  std::vector<std::int64_t> const hashes{1, 20, 30, 4, 1, 21, 30, 4, 1, 22, 31, 4};
  for (int const replicas : {1, 2}) {
    std::vector<int> readers(12);  // indexed by part and shard
    for (int shard = 0; shard < 3; ++shard) {
      auto const holders = redco::workdir::holders_of(hashes, shard, 3, replicas);
      REQUIRE(holders.size() == 4);
      CHECK(holders[0].shards == std::vector<int>{0, 1, 2});
      CHECK(holders[1].shards == std::vector<int>{shard});
      CHECK(holders[2].shards == (shard < 2 ? std::vector<int>{0, 1} : std::vector<int>{2}));
      for (std::size_t part = 0; part < 4; ++part) {
        CHECK(holders[part].replica == static_cast<int>(part) % replicas);
        readers[part * 3 + static_cast<std::size_t>(shard)] = holders[part].shard;
      }
    }
    for (std::size_t const part : {0u, 3u})
      for (std::size_t shard = 1; shard < 3; ++shard) CHECK(readers[part * 3 + shard] == readers[part * 3]);
    CHECK(readers[6] == readers[7]);
    if (replicas == 1) CHECK(readers[6] == 0);
    if (replicas == 2) CHECK(readers[6] == 1);
  }
}

TEST_CASE("pipeline stages with parts of different tensors agree on the reader of a part that several hold") {
  // Stages with three, two and four parts. The first and the last stage hold part 7.
  std::vector<std::int64_t> const hashes{1, 2, 7, 0, 3, 4, 0, 0, 7, 5, 6, 8};
  for (int const replicas : {1, 2}) {
    auto const first = redco::workdir::holders_of(hashes, 0, 3, replicas),
               middle = redco::workdir::holders_of(hashes, 1, 3, replicas),
               last = redco::workdir::holders_of(hashes, 2, 3, replicas);
    CHECK(first[2].shards == std::vector<int>{0, 2});
    CHECK(last[0].shards == std::vector<int>{0, 2});
    CHECK(first[2].shard == last[0].shard);
    CHECK(first[2].replica == last[0].replica);
    CHECK(first[3].shards.empty());
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(middle[i].shards == std::vector<int>{1});
      CHECK(middle[i].shard == 1);
      CHECK(last[i + 1].shard == 2);
    }
  }
}

TEST_CASE("parts are distinguished by name and box") {
  using redco::workdir::hash_of_part;
  CHECK(hash_of_part("a", {{0, 3}, {2, 1}}) == hash_of_part("a", {{0, 3}, {2, 1}}));
  CHECK(hash_of_part("a", {{0, 3}, {2, 1}}) != hash_of_part("a", {{3, 0}, {2, 1}}));
  CHECK(hash_of_part("a", {{0, 3}, {2, 1}}) != hash_of_part("b", {{0, 3}, {2, 1}}));
}
