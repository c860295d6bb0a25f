#include "catch.hpp"
#include "refused.hpp"

#include <redco/pretrained/stored_part.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr std::array part_names{redco::models::stored_name{"q.weight", "attn.weight", true, 0, 2},
                                redco::models::stored_name{"k.weight", "attn.weight", true, 1, 2},
                                redco::models::stored_name{.ours = "cls", .theirs = "t.cls", .ones = 2}};

using numbers = std::vector<std::int64_t>;

std::string refused(std::string const& ours, numbers const& shape) {
  return ::refused(
      [&] { redco::pretrained::stored_part_of(part_names, ours, shape, redco::safetensors::whole(shape)); });
}

}  // namespace

TEST_CASE("a part of a fused, transposed tensor follows the parts before it, with rows and columns exchanged") {
  redco::safetensors::box const rows{{2, 0}, {4, 5}};  // rows 2 to 5 of 12
  redco::pretrained::stored_part const q = redco::pretrained::stored_part_of(part_names, "q.weight", {12, 5}, rows);
  CHECK(q.name == "attn.weight");
  CHECK(q.shape == numbers{5, 24});
  CHECK(q.box == redco::safetensors::box{{0, 2}, {5, 4}});
  CHECK(q.transposed);
  redco::pretrained::stored_part const k = redco::pretrained::stored_part_of(part_names, "k.weight", {12, 5}, rows);
  CHECK(k.shape == q.shape);
  CHECK(k.box == redco::safetensors::box{{0, 14}, {5, 4}});
}

TEST_CASE("parameters of different sizes have rows of their own in a joined tensor, or take turns by groups of rows") {
  std::array const sizes{
      redco::models::stored_name{.ours = "k", .theirs = "qkv", .part = 1, .parts = 3, .first = 12, .rows = 20}};
  redco::pretrained::stored_part const k = redco::pretrained::stored_part_of(sizes, "k", {4, 5}, {{2, 1}, {2, 3}});
  CHECK(k.shape == numbers{20, 5});
  CHECK(k.box == redco::safetensors::box{{14, 1}, {2, 3}});
  std::array const turns{redco::models::stored_name{.ours = "v", .theirs = "qkv", .part = 2, .parts = 3, .group = 4}};
  // Rows 5 and 6 of v are rows 1 and 2 of its second group, after 3 + 2 groups of 4 rows.
  redco::pretrained::stored_part const v = redco::pretrained::stored_part_of(turns, "v", {12, 5}, {{5, 0}, {2, 5}});
  CHECK(v.shape == numbers{36, 5});
  CHECK(v.box == redco::safetensors::box{{21, 0}, {2, 5}});
}

TEST_CASE("extents of 1 come first") {
  redco::pretrained::stored_part const part = redco::pretrained::stored_part_of(part_names, "cls", {9}, {{3}, {2}});
  CHECK(part.shape == numbers{1, 1, 9});
  CHECK(part.box == redco::safetensors::box{{0, 0, 3}, {1, 1, 2}});
  CHECK(part.ones == 2);
  CHECK_FALSE(part.transposed);
}

TEST_CASE("a table without rows keeps every name; a parameter that it lacks or cannot cut exits with code 70") {
  redco::pretrained::stored_part const kept = redco::pretrained::stored_part_of({}, "h.0.up", {7, 5}, {{3, 0}, {2, 5}});
  CHECK(kept.name == "h.0.up");
  CHECK(kept.box == redco::safetensors::box{{3, 0}, {2, 5}});
  CHECK(refused("other", {3}).starts_with("70 the model's table of file names has no row"));
  CHECK(refused("q.weight", {12}).starts_with("70 the model's table of file names cuts or transposes"));
  CHECK(refused("q.weight", {12, 5, 2}).starts_with("70 "));
}
