// Counts saturate at the largest number. The bytes of a ring follow the formula without its
// overflow.
#include <redco/shape/bytes.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/extents.hpp>

namespace {

constexpr std::int64_t half = std::int64_t{1} << 62;
static_assert(redco::shape::saturating_add(half, half - 1) == redco::shape::saturated);
static_assert(redco::shape::saturating_add(half, half) == redco::shape::saturated &&
              redco::shape::saturating_add(2, 3) == 5);
static_assert(redco::shape::saturating_multiply(half, 2) == redco::shape::saturated &&
              redco::shape::saturating_multiply(half, 0) == 0);
static_assert(redco::shape::saturating_multiply(0, half) == 0 && redco::shape::saturating_multiply(half, 1) == half);
static_assert(redco::shape::saturating_multiply(std::int64_t{1} << 31, std::int64_t{1} << 31) == half);
static_assert(redco::extents{half, half, 0}.count() == 0 && redco::extents{half, 4}.count() == redco::shape::saturated);

constexpr bool rings_agree() {
  for (int ranks = 1; ranks < 9; ++ranks)
    for (std::int64_t payload = 0; payload < 100; ++payload)
      if (redco::shape::all_reduce_ring_bytes(payload, ranks) != (2 * (ranks - 1) * payload + ranks - 1) / ranks)
        return false;
  return true;
}
static_assert(rings_agree());
static_assert(redco::shape::all_reduce_ring_bytes(half - 1, 1 << 30) > half);

}  // namespace
