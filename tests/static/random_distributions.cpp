#include <redco/random/uniform.hpp>

constexpr redco::random::stream some_stream = redco::random::make_stream(1, 2, 3, 4);

static_assert(redco::random::below(some_stream, 9, 1) == 0);
static_assert(redco::random::below(some_stream, 9, 10) < 10);
static_assert(redco::random::below(some_stream, 9, 1000000007) != redco::random::below(some_stream, 10, 1000000007));
static_assert(redco::random::uniform_at(some_stream, 0) != redco::random::uniform_at(some_stream, 1));
static_assert(redco::random::detail::unit_double(0xffffffff, 0xffffffff) < 1.0);
static_assert(redco::random::detail::unit_double(0, 0) == 0.0 &&
              redco::random::detail::unit_double(0, 0x80000000) == 0.5);
