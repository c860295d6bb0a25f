#include "catch.hpp"

#include <redco/options/zero_within.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

// Tests of the groups of replicas that share out state (--zero-within).

namespace zero_within_test {

using redco::mesh, redco::shape::axis, redco::options::mesh_with_shares, redco::options::grouped_mesh;

grouped_mesh whole(mesh const& on) { return {on, redco::shape::token_axes}; }
grouped_mesh groups(mesh const& on) { return {on, axis::ds | axis::ep}; }

std::string refusal(std::string_view within, mesh const& on, int machines, int zero = 1) {
  try {
    static_cast<void>(mesh_with_shares(within, on, machines, zero));
    return "accepted";
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
}

TEST_CASE("the replicas of one machine share out state, and the groups of machines are copies") {
  CHECK(mesh_with_shares("run", {.dp = 8}, 2, 0) == whole({.dp = 8}));
  CHECK(mesh_with_shares("host", {.dp = 8}, 2, 1) == groups({.dp = 2, .ds = 4}));
  CHECK(mesh_with_shares("host", {.dp = 8}, 1, 1) == whole({.dp = 8}));
  CHECK(mesh_with_shares("host", {.dp = 4, .tp = 2}, 2, 3) == groups({.dp = 2, .ds = 2, .tp = 2}));
  // Each machine has a whole stage, both stages, or half of one.
  CHECK(mesh_with_shares("host", {.pp = 2, .dp = 4}, 2, 3) == whole({.pp = 2, .dp = 4}));
  CHECK(mesh_with_shares("host", {.pp = 2, .dp = 2}, 1, 3) == whole({.pp = 2, .dp = 2}));
  CHECK(mesh_with_shares("host", {.pp = 2, .dp = 4}, 4, 3) == groups({.pp = 2, .dp = 2, .ds = 2}));
  CHECK(mesh_with_shares("2", {.dp = 6}, 1, 2) == groups({.dp = 3, .ds = 2}));
  CHECK(mesh_with_shares("6", {.dp = 6}, 1, 2) == whole({.dp = 6}));
}

TEST_CASE("a group has all ranks along ep, and the rest of its replicas are along ds") {
  CHECK(mesh_with_shares("host", {.dp = 4, .ep = 2}, 2, 1) == groups({.dp = 2, .ds = 2, .ep = 2}));
  CHECK(mesh_with_shares("host", {.dp = 2, .ep = 4}, 2, 3) == groups({.dp = 2, .ep = 4}));
  CHECK(mesh_with_shares("6", {.dp = 6, .ep = 2, .tp = 2}, 1, 2) == groups({.dp = 2, .ds = 3, .ep = 2, .tp = 2}));
  CHECK(mesh_with_shares("8", {.dp = 2, .ep = 4}, 2, 3) == whole({.dp = 2, .ep = 4}));
  CHECK(
      refusal("2", {.dp = 4, .ep = 4}, 1) ==
      "64 --zero-within 2: the 16 replicas on 1 machine do not divide into such groups of at least 2, each with all 4 "
      "ranks along ep; give one of 4, 8, 16");
  CHECK(refusal("host", {.ep = 4}, 2).starts_with("64 --zero-within host: the 4 replicas on 2 machines"));
}

TEST_CASE("groups that are impossible are refused with those that are legal") {
  CHECK(refusal("host", {.dp = 4}, 2, 0).starts_with("64 --zero-within host without --zero"));
  CHECK(
      refusal("4", {.dp = 6}, 1) ==
      "64 --zero-within 4: the 6 replicas on 1 machine do not divide into such groups of at least 2; give one of 2, 3, "
      "6");
  CHECK(refusal("1", {.dp = 6}, 1).starts_with("64 --zero-within 1: the 6 replicas"));
  CHECK(refusal("host", {.dp = 8}, 8).starts_with("64 --zero-within host: the 8 replicas on 8 machines"));
  CHECK(refusal("host", {.dp = 3}, 2).starts_with("64 --zero-within host: the 3 replicas on 2 machines"));
  // Each machine has one and a half stages.
  CHECK(refusal("host", {.pp = 3, .dp = 4}, 2).starts_with("64 --zero-within host: the 4 replicas on 2 machines"));
  CHECK(refusal("host", {.dp = 2, .tp = 2}, 4).starts_with("64 --zero-within host: the 2 replicas on 4 machines"));
  for (char const* text : {"", "machine", "0", "-2", "2x", "2.5"})
    CHECK(refusal(text, {.dp = 4}, 1).starts_with("64 --zero-within " + std::string(text) + ": give run"));
}

}  // namespace zero_within_test
