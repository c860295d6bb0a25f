#include <redco/random/philox.hpp>
#include <redco/random/stream.hpp>

#include <array>
#include <cstdint>

// The known answers of Random123's kat_vectors for philox4x32 with ten rounds.
using block = std::array<std::uint32_t, 4>;

static_assert(redco::random::philox({0, 0, 0, 0}, {0, 0}) == block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(redco::random::philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(redco::random::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

// A stream's key is the first half of the output for the block {site, step low, step high, call}
// under the seed.
constexpr redco::random::stream pi =
    redco::random::make_stream(0x299f31d0a4093822, 0x243f6a88, 0x13198a2e85a308d3, 0x03707344);
static_assert(pi == redco::random::stream{0xd16cfe09, 0x94fdcceb});

// Each argument changes the key.
constexpr redco::random::stream base = redco::random::make_stream(1, 2, 3, 4);
static_assert(base == redco::random::make_stream(1, 2, 3, 4));
static_assert(base != redco::random::make_stream(2, 2, 3, 4) &&
              base != redco::random::make_stream(1 + (1ull << 32), 2, 3, 4));
static_assert(base != redco::random::make_stream(1, 3, 3, 4));
static_assert(base != redco::random::make_stream(1, 2, 4, 4) &&
              base != redco::random::make_stream(1, 2, 3 + (1ull << 32), 4));
static_assert(base != redco::random::make_stream(1, 2, 3, 5));
