// Tests of the shares of the flat buffers that replicas keep.
#include "catch.hpp"

#include <redco/shard/shares.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shares_test {

using redco::shape::axes, redco::shape::axis, redco::extents, redco::mesh, redco::shard::boxes_of,
    redco::shard::element_box, redco::shard::padded_for_shares, redco::shard::region, redco::shard::regions,
    redco::shard::shared_range, redco::shard::shares_of;

constexpr axes batch = redco::shape::token_axes;

constexpr regions made_of(std::int64_t decay, std::int64_t plain, std::int64_t experts, std::int64_t frozen) {
  regions all;
  all.add({0, 0, true, true, batch}, decay);
  all.add({0, 0, true, false, batch}, plain);
  all.add({0, 0, true, true, axis::dp}, experts);
  all.add({0, 0, false, false, {}}, frozen);
  return all;
}

TEST_CASE("each sum of gradients is padded at its end until the ranks share it evenly") {
  constexpr mesh on{.dp = 2, .ep = 2};
  std::vector<region> const wanted{
      {0, 5, true, true, batch}, {5, 8, true, false, batch}, {8, 16, true, true, axis::dp}, {16, 19, false, false, {}}};
  regions const padded = padded_for_shares(made_of(5, 1, 7, 3), on);
  CHECK(std::vector<region>(padded.begin(), padded.end()) == wanted);
  CHECK(shares_of(padded, on) == std::vector<shared_range>{{0, 8, batch, 4}, {8, 16, axis::dp, 2}});
  static_assert(padded_for_shares(made_of(4, 4, 2, 3), on) == made_of(4, 4, 2, 3));
  static_assert(shares_of(padded_for_shares(made_of(0, 0, 0, 3), on), on).empty());
}

TEST_CASE("shares cover the trained elements once, in ranges of the wanted size, and regions smaller than the ranks") {
  for (int const ranks : {2, 3, 4, 7})
    for (std::int64_t const size : {1, 2, 3, 5, 8, 100, 1001})
      for (std::int64_t const most : {0, 1, 4, 10, 5000}) {
        mesh const on{.dp = ranks};
        regions const padded = padded_for_shares(made_of(size, 2, 0, 9), on);
        std::vector<int> kept(static_cast<std::size_t>(padded.trained()), 0);
        for (shared_range const& one : shares_of(padded, on, most)) {
          CHECK(one.ranks == ranks);
          CHECK(one.size() % ranks == 0);
          CHECK((most == 0 || one.size() < most + ranks));
          for (int r = 0; r < ranks; ++r)
            for (std::int64_t i = 0; i < one.share(); ++i) ++kept[static_cast<std::size_t>(one.share_begin(r) + i)];
        }
        CHECK(kept == std::vector<int>(kept.size(), 1));
        CHECK(padded.trained() < size + 2 + ranks);
      }
}

TEST_CASE("a large buffer is cut into at most 1024 shares, so that a checkpoint can list its parts") {
  mesh const on{.dp = 4};
  regions const padded = padded_for_shares(made_of(1'000'000, 0, 0, 0), on);
  CHECK(shares_of(padded, on, 8).size() == 256);
  mesh const wide{.dp = 2000};
  CHECK(shares_of(padded_for_shares(made_of(1'000'000, 0, 0, 0), wide), wide, 8).size() == 1);
}

/// Returns the row-major indices of the elements of a box in a tensor of the shape `shape`.
std::vector<std::int64_t> indices_of(element_box const& box, extents const& shape) {
  std::vector<std::int64_t> all;
  for (std::int64_t k = 0; k < box.size.count(); ++k) {
    std::int64_t rest = k, index = 0, inner = 1;
    for (int d = shape.rank; d-- > 0;) {
      index += (box.offset[d] + rest % box.size[d]) * inner;
      rest /= box.size[d];
      inner *= shape[d];
    }
    all.push_back(index);
  }
  return all;
}

TEST_CASE("the boxes of a range are its elements in their order, at most five for a tensor of three dimensions") {
  for (extents const& shape : {extents{}, {1}, {6}, {4, 3}, {3, 1, 4}, {2, 3, 4}, {1, 1}}) {
    std::int64_t const count = shape.count();
    for (std::int64_t begin = 0; begin <= count; ++begin)
      for (std::int64_t end = begin; end <= count; ++end) {
        std::vector<std::int64_t> found, wanted;
        for (element_box const& box : boxes_of(shape, begin, end)) {
          for (int d = 0; d < shape.rank; ++d) CHECK(box.offset[d] + box.size[d] <= shape[d]);
          for (std::int64_t const i : indices_of(box, shape)) found.push_back(i);
        }
        for (std::int64_t i = begin; i < end; ++i) wanted.push_back(i);
        CHECK(found == wanted);
        CHECK(boxes_of(shape, begin, end).size() <= 5);
      }
  }
  CHECK(boxes_of({0, 3}, 0, 0).empty());
  static_assert(boxes_of({2, 3, 4}, 0, 24) == std::vector<element_box>{{{0, 0, 0}, {2, 3, 4}}});
  static_assert(boxes_of({2, 3, 4}, 5, 17).size() == 4);
}

TEST_CASE("the first rank along axes differs from a rank in these coordinates only") {
  mesh const on{.pp = 2, .dp = 3, .ep = 2, .tp = 2};
  for (int rank = 0; rank < on.ranks(); ++rank) {
    int const first = redco::shard::first_along(batch, rank, on);
    CHECK(on.coordinate(first, batch) == 0);
    CHECK(on.coordinate(first, axis::pp | axis::tp) == on.coordinate(rank, axis::pp | axis::tp));
  }
}

TEST_CASE("levels of ZeRO that do not run are refused with the legal ones, and one replica shares nothing") {
  auto const refusal = [](int level, std::int64_t keep = 0) -> std::string {
    try {
      redco::shape::check_zero(level, keep);
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return "accepted";
  };
  CHECK(refusal(0) == "accepted");
  CHECK(refusal(1) == "accepted");
  CHECK(refusal(2) == "accepted");
  CHECK(refusal(3) == "accepted");
  CHECK(refusal(3, 2) == "accepted");
  CHECK(refusal(3, -2).starts_with("64 --zero-keep -2: give the number of blocks, from 0 on"));
  CHECK(refusal(2, 2).starts_with("64 --zero-keep 2 with --zero 2: only with --zero 3"));
  CHECK(refusal(4).starts_with("64 --zero 4 is no level of ZeRO: give 0"));
  CHECK(refusal(-1).starts_with("64 --zero -1 is no level of ZeRO"));
  redco::shape::zero const one{.level = 1, .bucket = 8};
  CHECK(one.on({.dp = 2}) == one);
  CHECK(one.on({.pp = 2, .dp = 1, .tp = 2}).level == 0);
  CHECK(redco::shape::zero{.level = 1}.bytes_of_sum() == 0);
  CHECK(redco::shape::zero{.level = 2}.bytes_of_sum() == 4 * 1024 * 1024);
  CHECK(redco::shape::zero{.level = 2, .bucket = 8}.bytes_of_sum() == 8);
}

}  // namespace shares_test
