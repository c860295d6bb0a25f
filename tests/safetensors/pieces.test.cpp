#include "catch.hpp"

#include <redco/safetensors/tensor_table.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

TEST_CASE("the pieces of a box are its intersections with the parts of a tensor") {
  redco::safetensors::stored_tensor const tensor{redco::safetensors::file_dtype::f32,
                                                 {4, 6},
                                                 {{"a", {0, 0}, {2, 6}}, {"b", {2, 0}, {2, 3}}, {"c", {2, 3}, {2, 3}}}};
  struct piece {
    std::string file;
    redco::safetensors::box from, to;
    bool operator==(piece const&) const = default;
  };
  std::vector<piece> pieces;
  redco::safetensors::for_each_piece(tensor, {{1, 1}, {2, 2}},
                                     [&](redco::safetensors::tensor_part const& part,
                                         redco::safetensors::box const& from, redco::safetensors::box const& to) {
                                       pieces.push_back({part.file, from, to});
                                     });
  CHECK(pieces ==
        std::vector<piece>{{"a", {{1, 1}, {1, 2}}, {{0, 0}, {1, 2}}}, {"b", {{0, 1}, {1, 2}}, {{1, 0}, {1, 2}}}});
}

TEST_CASE("slabs are whole rows of at most 16 MiB, in order, or one row") {
  auto const slabs_of = [](std::vector<std::int64_t> shape, std::uint64_t bytes) {
    std::vector<std::pair<std::int64_t, std::int64_t>> rows;
    redco::safetensors::for_each_slab({"a", redco::safetensors::file_dtype::u8, std::move(shape), 0, bytes},
                                      [&](redco::safetensors::box const& slab) {
                                        if (slab.shape.empty()) rows.emplace_back(-1, -1);
                                        else rows.emplace_back(slab.offset.front(), slab.shape.front());
                                      });
    return rows;
  };
  using rows = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CHECK(slabs_of({5, 8 << 20}, std::uint64_t{40} << 20) == rows{{0, 2}, {2, 2}, {4, 1}});
  CHECK(slabs_of({2, 17 << 20}, std::uint64_t{34} << 20) == rows{{0, 1}, {1, 1}});
  CHECK(slabs_of({0, 3}, 0).empty());
  CHECK(slabs_of({}, 1) == rows{{-1, -1}});
}

TEST_CASE("a local tensor must have room for its box, and the box must be inside the tensor") {
  std::vector<std::int64_t> const shape{4, 6}, local{2, 4};
  CHECK(redco::safetensors::has_room(local, {{2, 3}, {2, 3}}, shape));
  CHECK(redco::safetensors::has_room(local, {{4, 0}, {0, 3}}, shape));
  CHECK_FALSE(redco::safetensors::has_room(local, {{0, 0}, {3, 3}}, shape));
  CHECK_FALSE(redco::safetensors::has_room(local, {{3, 3}, {2, 3}}, shape));
  CHECK_FALSE(redco::safetensors::has_room(std::vector<std::int64_t>{8}, {{0, 0}, {2, 3}}, shape));
  CHECK_FALSE(redco::safetensors::has_room(std::vector<std::int64_t>{8}, {{0}, {2}}, shape));
}
