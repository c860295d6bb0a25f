#include <redco/random/below.hpp>
#include <redco/random/uniform.hpp>

constexpr redco::stream some_stream = redco::make_stream(1, 2, 3, 4);

static_assert(redco::below(some_stream, 9, 1) == 0);
static_assert(redco::below(some_stream, 9, 10) < 10);
static_assert(redco::below(some_stream, 9, 1000000007) != redco::below(some_stream, 10, 1000000007));
static_assert(redco::uniform_at(some_stream, 0) != redco::uniform_at(some_stream, 1));
static_assert(redco::detail::unit_double(0xffffffff, 0xffffffff) < 1.0);
static_assert(redco::detail::unit_double(0, 0) == 0.0 && redco::detail::unit_double(0, 0x80000000) == 0.5);
