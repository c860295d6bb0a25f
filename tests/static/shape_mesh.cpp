#include <redco/shape/mesh.hpp>

#include <concepts>

namespace {

using redco::shape::axis, redco::shape::axes, redco::mesh;

// Numbers without names do not compile, because they could mean stages, replicas or shards.
template <class T>
concept takes_numbers = requires {
  T{1, 2};
}
|| requires { T{1}; }
|| requires { T{{}, 1, 2}; };
static_assert(!takes_numbers<mesh> && !std::convertible_to<int, mesh>);

constexpr bool counts_pp_last_and_tp_first() {
  constexpr mesh m{.pp = 2, .dp = 3, .ep = 5, .tp = 7};
  int rank = 0;
  for (int p = 0; p < m[axis::pp]; ++p)
    for (int d = 0; d < m[axis::dp]; ++d)
      for (int e = 0; e < m[axis::ep]; ++e)
        for (int t = 0; t < m[axis::tp]; ++t, ++rank) {
          if (m.coordinate(rank, axis::pp) != p || m.coordinate(rank, axis::dp) != d) return false;
          if (m.coordinate(rank, axis::ep) != e || m.coordinate(rank, axis::tp) != t) return false;
          if (m.coordinate(rank, axis::dp | axis::ep) != d * 5 + e) return false;
          if (m.coordinate(rank, axis::tp | axis::pp) != p * 7 + t) return false;
          if (m.coordinate(rank, redco::shape::every_axis) != rank || m.coordinate(rank, axes{}) != 0) return false;
        }
  return rank == m.ranks();
}
static_assert(counts_pp_last_and_tp_first());

static_assert(mesh{}.ranks() == 1 && mesh{.dp = 3, .tp = 2}.ranks() == 6);
static_assert(mesh{.pp = 2, .dp = 3, .ep = 5, .tp = 7}.size(axis::pp | axis::ep) == 10);
static_assert(mesh{.dp = 2}.size(axes{}) == 1);
static_assert(mesh{.pp = 1 << 30, .dp = 1 << 30, .ep = 1 << 30, .tp = 1 << 30}.ranks() == 2147483647);

static_assert((axis::pp | axis::tp).has(axis::tp) && !(axis::pp | axis::tp).has(axis::dp) && axes{}.empty());
static_assert((axis::dp | axis::ds | axis::ep | axis::dp) == redco::shape::batch_axes);
static_assert(name_of(axis::pp) == "pp" && name_of(axis::tp) == "tp");

}  // namespace
