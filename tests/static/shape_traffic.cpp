#include <redco/shape/traffic.hpp>

using redco::shape::collective;
using redco::shape::traffic;

// In an all-reduce a rank sends 2 (n - 1) / n of the bytes, rounded up. In an all-gather to 12
// bytes on three ranks it sends 8 bytes. In a broadcast the last rank of the ring sends nothing.
static_assert(traffic::wire(collective::all_reduce, 100, 0, 2) == 100);
static_assert(traffic::wire(collective::all_reduce, 100, 1, 3) == 134);
static_assert(traffic::wire(collective::all_gather, 12, 0, 3) == 8);
static_assert(traffic::wire(collective::reduce_scatter, 12, 2, 4) == 9);
static_assert(traffic::wire(collective::all_to_all, 12, 2, 4) == 9);
static_assert(traffic::wire(collective::broadcast, 7, 2, 4, 3) == 0);
static_assert(traffic::wire(collective::broadcast, 7, 3, 4, 0) == 0);
static_assert(traffic::wire(collective::broadcast, 7, 3, 4, 3) == 7);
static_assert(traffic::wire(collective::send, 7, 0, 4) == 7);
static_assert(traffic::wire(collective::recv, 7, 0, 4) == 0);
static_assert(traffic::wire(collective::barrier, 0, 0, 4) == 0);

constexpr traffic counted = [] {
  traffic made;
  made[collective::send] = {1, 5, 5};
  made[collective::all_gather] = {2, 12, 8};
  return made;
}();
static_assert(counted.total() == traffic::entry{3, 17, 13});
static_assert(name_of(collective::reduce_scatter) == "reduce_scatter");
static_assert(name_of(collective::barrier) == "barrier");

int main() {}
