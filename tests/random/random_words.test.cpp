#include <redco/random/detail/words.hpp>
#include <redco/random/philox.hpp>
#include <redco/random/random_words.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

constexpr redco::random::stream words_stream{0x12345u, 0xfedcba98u};

std::uint32_t expected_word(std::int64_t feature, std::uint32_t c1, std::uint32_t c2, std::uint32_t c3) {
  return redco::random::philox({static_cast<std::uint32_t>(feature / 4), c1, c2, c3},
                               words_stream)[static_cast<std::size_t>(feature % 4)];
}

std::vector<std::pair<char const*, redco::random::detail::block_writer>> usable_writers() {
  std::vector<std::pair<char const*, redco::random::detail::block_writer>> writers{
      {"scalar", redco::random::detail::blocks_scalar}};
#if defined(__x86_64__)
  writers.emplace_back("sse2", redco::random::detail::blocks_sse2);
  if (__builtin_cpu_supports("avx2")) writers.emplace_back("avx2", redco::random::detail::blocks_avx2);
  if (__builtin_cpu_supports("avx512f")) writers.emplace_back("avx512", redco::random::detail::blocks_avx512);
#endif
  return writers;
}

}  // namespace

TEST_CASE("random words are the Philox words of their coordinates on every instruction set, for any start and length") {
  for (auto [name, write] : usable_writers()) {
    INFO(name);
    for (std::int64_t first : {0, 1, 2, 3, 4, 5, 127, 1001})
      for (std::int64_t n : {0, 1, 2, 3, 5, 15, 16, 17, 19, 63, 64, 131, 257, 777}) {
        std::vector<std::uint32_t> out(static_cast<std::size_t>(n) + 2, 7u);
        redco::random::detail::words_with(write, out.data() + 1, first, n, {11, 13, 17}, words_stream);
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < n; ++i)
          wrong += out[static_cast<std::size_t>(i) + 1] != expected_word(first + i, 11, 13, 17);
        CHECK(wrong == 0);
        CHECK(out.front() == 7u);
        CHECK(out.back() == 7u);
      }
  }
}

TEST_CASE("random words beyond 2^32 features use the whole counter word") {
  std::int64_t const first = (std::int64_t{1} << 33) + 3;
  std::vector<std::uint32_t> out(200);
  redco::random::random_words(out.data(), first, 200, 1, 2, 3, words_stream);
  CHECK(out[0] == expected_word(first, 1, 2, 3));
  CHECK(out[199] == expected_word(first + 199, 1, 2, 3));
}

TEST_CASE("random words split at odd indices equal the words of one run") {
  std::vector<std::uint32_t> whole(513), parts(513);
  redco::random::random_words(whole.data(), 5, 513, 3, 1, 4, words_stream);
  std::int64_t at = 0;
  for (std::int64_t n : {1, 2, 130, 77, 303}) {
    redco::random::random_words(parts.data() + at, 5 + at, n, 3, 1, 4, words_stream);
    at += n;
  }
  REQUIRE(at == 513);
  CHECK(whole == parts);
}

TEST_CASE("random words of neighbouring coordinates are uniform and uncorrelated") {
  constexpr int n = 1 << 16;
  std::vector<std::uint32_t> a(n), b(n);
  for (int coordinate = 0; coordinate < 3; ++coordinate) {
    redco::random::random_words(a.data(), 0, n, 5, 6, 7, words_stream);
    redco::random::random_words(b.data(), 0, n, 5u + (coordinate == 0), 6u + (coordinate == 1), 7u + (coordinate == 2),
                                words_stream);
    double mean = 0, square = 0, product = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double const x = a[i] / 4294967296.0 - 0.5, y = b[i] / 4294967296.0 - 0.5;
      mean += x / n, square += x * x / n, product += x * y / n;
    }
    CHECK(std::abs(mean) < 4 * 0.2887 / 256);
    CHECK(square == Approx(1.0 / 12).epsilon(0.02));
    CHECK(std::abs(product) < 4 * (1.0 / 12) / 256);
  }
}
