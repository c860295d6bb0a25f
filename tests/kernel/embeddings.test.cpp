#include "torch_catch.hpp"

#include "gradcheck.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/composed/embeddings.hpp>
#include <redco/kernel/embeddings.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace {

using namespace redco;

at::Tensor rotate_sample(at::IntArrayRef sizes, double phase) {
  std::int64_t count = 1;
  for (std::int64_t const extent : sizes) count *= extent;
  return at::sin(at::arange(count, at::kDouble) * 0.7 + phase).view(sizes);
}

/// Checks that pair (a, b) of a head at position p turns by the angle p theta^(-2i / dims) and
/// keeps its length.
void check_turn(redco::layers::rotary_pairs pairs) {
  kernel::rotation const by{2, 6, {.dims = 4, .theta = 50, .pairs = pairs, .scaling = {}}, 3};
  at::Tensor const x = rotate_sample({2, 3, 14}, 0.2), y = kernel::rotate(x.clone(), by);
  auto const at = [](at::Tensor const& t, std::int64_t b, std::int64_t row, std::int64_t column) {
    return t[b][row][column].item<double>();
  };
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t row = 0; row < 3; ++row) {
      for (std::int64_t head = 0; head < 2; ++head)
        for (std::int64_t i = 0; i < 2; ++i) {
          std::int64_t const first = 6 * head + (pairs == redco::layers::rotary_pairs::halves ? i : 2 * i);
          std::int64_t const other = first + (pairs == redco::layers::rotary_pairs::halves ? 2 : 1);
          double const angle = static_cast<double>(3 + row) * std::pow(50.0, -static_cast<double>(i) / 2);
          double const u = at(x, b, row, first), v = at(x, b, row, other);
          CHECK(at(y, b, row, first) == Approx(u * std::cos(angle) - v * std::sin(angle)).margin(1e-14));
          CHECK(at(y, b, row, other) == Approx(v * std::cos(angle) + u * std::sin(angle)).margin(1e-14));
        }
      for (std::int64_t const column : {4, 5, 10, 11, 12, 13}) CHECK(at(y, b, row, column) == at(x, b, row, column));
    }
}

}  // namespace

TEST_CASE("rotary positions rotate pairs of features, halves or neighbours, and leave the other features") {
  check_turn(redco::layers::rotary_pairs::halves);
  check_turn(redco::layers::rotary_pairs::neighbours);
}

TEST_CASE("rows rotate by the given positions, each example by its own") {
  kernel::rotation const by{1, 4, {.dims = 4, .scaling = {}}};
  at::Tensor const x = rotate_sample({2, 3, 4}, 0.4), indices = at::tensor({5, 6, 7, 0, 1, 2}, at::kLong).view({2, 3});
  at::Tensor const y = kernel::rotate(x.clone(), by, indices);
  kernel::rotation later = by;
  later.first = 5;
  CHECK(y[0].equal(kernel::rotate(x.slice(0, 0, 1).clone(), later)[0]));
  CHECK(y[1].equal(kernel::rotate(x.slice(0, 1, 2).clone(), by)[0]));
}

TEST_CASE("stretching scales long waves by the factor, keeps short ones, and interpolates between them") {
  redco::layers::rotary_angles const plain{.dims = 8, .theta = 10000, .scaling = {}};
  redco::layers::rotary_angles stretched = plain;
  stretched.scaling = {.kind = redco::layers::rotary_kind::llama3,
                       .factor = 8,
                       .low_frequency = 1,
                       .high_frequency = 4,
                       .context = 1000};
  auto const angle = [](redco::layers::rotary_angles const& a, std::int64_t pair) {
    at::Tensor const x = at::zeros({1, 1, 8}, at::kDouble);
    x[0][0][pair] = 1;
    at::Tensor const y = kernel::rotate(x, {1, 8, a, 1});
    return std::atan2(y[0][0][pair + 4].item<double>(), y[0][0][pair].item<double>());
  };
  // In 1000 positions the pairs make 159, 15.9, 1.59 and 0.159 turns.
  CHECK(angle(stretched, 0) == Approx(angle(plain, 0)));
  CHECK(angle(stretched, 1) == Approx(angle(plain, 1)));
  double const mix = (1000 * 0.01 / (2 * M_PI) - 1) / 3;
  CHECK(angle(stretched, 2) == Approx(0.01 * (mix + (1 - mix) / 8)));
  CHECK(angle(stretched, 3) == Approx(angle(plain, 3) / 8));
}

TEST_CASE("each kind of rotary frequencies rotates like transformers, by lengths on both sides of its limit") {
  using redco::layers::rotary_kind;
  redco::layers::rotary_scaling const yarn{.kind = rotary_kind::yarn,
                                           .factor = 4,
                                           .low_frequency = 0.5,
                                           .high_frequency = 8,
                                           .context = 64,
                                           .amplitude = 1.138629436111989};
  redco::layers::rotary_scaling fractions = yarn, usual = yarn;
  fractions.whole_pairs = false;
  usual.low_frequency = 1, usual.high_frequency = 32;
  redco::layers::rotary_scaling const longrope{.kind = rotary_kind::longrope,
                                               .context = 24,
                                               .amplitude = 1.198419202103781,
                                               .divisors = {{1, 1.25, 1.5, 2, 2.5, 3}, 6},
                                               .long_divisors = {{1.5, 2, 3, 5, 8, 13}, 6}};
  redco::layers::rotary_scaling const dynamic{.kind = rotary_kind::dynamic, .factor = 3, .context = 96};
  struct expectation {
    redco::layers::rotary_scaling scaling;
    std::int64_t length;
    std::array<double, 6> frequencies;
  };
  // inv_freq of transformers 5.24 for heads of 12 features and a theta of 5000, in f32
  expectation const all[] = {
      {{.kind = rotary_kind::linear, .factor = 2.5},
       3,
       {0.400000006, 0.0967308432, 0.0233921409, 0.00565685425, 0.0013679805, 0.000330814917}},
      {dynamic, 96, {1, 0.241827101, 0.0584803522, 0.0141421361, 0.0034199513, 0.000827037264}},
      {dynamic, 97, {1, 0.240343377, 0.0577649474, 0.0138834249, 0.00333678909, 0.00080197549}},
      {dynamic, 130, {1, 0.209231079, 0.0437776409, 0.00915964507, 0.00191648211, 0.000400987774}},
      {yarn, 3, {1, 0.181370318, 0.0292401761, 0.00353553402, 0.000854987826, 0.000206759316}},
      {fractions, 3, {1, 0.164769739, 0.01738986, 0.00353553402, 0.000854987826, 0.000206759316}},
      {usual, 3, {1, 0.151141942, 0.014620088, 0.00353553402, 0.000854987826, 0.000206759316}},
      {longrope, 24, {1, 0.193461686, 0.0389869027, 0.00707106804, 0.0013679805, 0.000275679078}},
      {longrope, 25, {0.666666687, 0.12091355, 0.0194934513, 0.00282842689, 0.000427493913, 6.36182522e-05}},
      {{.kind = rotary_kind::llama3, .factor = 8, .low_frequency = 1, .high_frequency = 4, .context = 64},
       3,
       {1, 0.133434296, 0.00731004402, 0.00176776701, 0.000427493913, 0.000103379658}}};
  for (expectation const& one : all) {
    INFO("kind " << static_cast<int>(one.scaling.kind) << ", length " << one.length);
    kernel::rotation const by{1, 12, {.dims = 12, .theta = 5000, .scaling = one.scaling}, one.length - 1};
    at::Tensor const y =
        kernel::rotate(at::cat({at::ones({1, 1, 6}, at::kDouble), at::zeros({1, 1, 6}, at::kDouble)}, 2), by,
                       at::full({1, 1}, 2, at::kLong));
    for (std::int64_t i = 0; i < 6; ++i) {
      double const angle = 2 * one.frequencies[static_cast<std::size_t>(i)], u = y[0][0][i].item<double>(),
                   v = y[0][0][i + 6].item<double>();
      CHECK(u == Approx(one.scaling.amplitude * std::cos(angle)).margin(1e-6));
      CHECK(v == Approx(one.scaling.amplitude * std::sin(angle)).epsilon(1e-6));
    }
  }
}

TEST_CASE("rotary frequencies that depend on a length take the length of each token's text") {
  using redco::layers::rotary_kind;
  redco::layers::rotary_scaling const longrope{.kind = rotary_kind::longrope,
                                               .context = 6,
                                               .amplitude = 1.2,
                                               .divisors = {{1, 1.25, 1.5}, 3},
                                               .long_divisors = {{1.5, 3, 8}, 3}};
  redco::layers::rotary_scaling const dynamic{.kind = rotary_kind::dynamic, .factor = 3, .context = 6};
  // Row 0 has texts of 4 and 8 tokens, row 1 has one of 9 tokens and padding.
  at::Tensor const positions = at::cat({at::arange(4), at::arange(8), at::arange(9), at::zeros({3}, at::kLong)});
  at::Tensor const lengths =
      at::cat({at::full({4}, 4), at::full({8}, 8), at::full({9}, 9), at::zeros({3}, at::kLong)}).view({2, 12});
  for (redco::layers::rotary_scaling const& scaling : {longrope, dynamic}) {
    kernel::rotation const by{2, 6, {.dims = 6, .theta = 500, .scaling = scaling}};
    at::Tensor const x = rotate_sample({2, 12, 13}, 0.2);
    at::Tensor const alone = at::cat({kernel::rotate(x.narrow(0, 0, 1).narrow(1, 0, 4).clone(), by),
                                      kernel::rotate(x.narrow(0, 0, 1).narrow(1, 4, 8).clone(), by),
                                      kernel::rotate(x.narrow(0, 1, 1).narrow(1, 0, 9).clone(), by)},
                                     1);
    auto const real = [](at::Tensor const& y) { return y.view({1, 24, 13}).narrow(1, 0, 21); };
    at::Tensor const found = kernel::rotate(x.clone(), by, positions.view({2, 12}), lengths);
    CHECK(at::allclose(real(found), alone, 1e-13, 1e-14));
    CHECK(at::allclose(kernel::composed::rotate(x, by, positions.view({2, 12}), lengths), found, 1e-13, 1e-14));
    CHECK((found - kernel::rotate(x.clone(), by, positions.view({2, 12}))).abs().max().item<double>() > 1e-3);
    // One length for each row, with the positions of all rows
    at::Tensor const of_rows = at::tensor({12, 5}, at::kLong).view({2, 1});
    at::Tensor const rows = kernel::rotate(x.clone(), by, {}, of_rows);
    CHECK(at::allclose(rows[0], kernel::rotate(x.clone(), by)[0], 1e-13, 1e-14));
    CHECK(at::allclose(rows[1].narrow(0, 0, 5), kernel::rotate(x.narrow(1, 0, 5).clone(), by)[1], 1e-13, 1e-14));
    CHECK(at::allclose(kernel::composed::rotate(x, by, {}, of_rows), rows, 1e-13, 1e-14));
    gradcheck::tensor_list const inputs{x.clone().requires_grad_()};
    auto const rotated = [&](gradcheck::tensor_list const& in) {
      return kernel::rotate(in[0] * 1, by, positions.view({2, 12}), lengths);
    };
    CHECK(gradcheck::first(rotated, inputs) < 1e-8);
  }
}

TEST_CASE("first and second derivatives of rotated attention with a window and a distance bias are exact") {
  std::int64_t const heads = 2, kv_heads = 1, width = 4, length = 4;
  auto const attend = [&](gradcheck::tensor_list const& in) {
    kernel::rotation const by{heads + kv_heads, width, {.dims = 2, .theta = 30, .scaling = {.amplitude = 1.3}}};
    kernel::attention_options o{.heads = heads, .kv_heads = kv_heads, .causal = true, .window = 3, .bias = in[1]};
    o.distance0 = length - 1;
    return kernel::self_attention(kernel::rotate(in[0] * 1, by), o);
  };
  gradcheck::tensor_list const inputs{rotate_sample({2, length, (heads + 2 * kv_heads) * width}, 0.1).requires_grad_(),
                                      rotate_sample({heads, 2 * length - 1}, 0.9).requires_grad_()};
  CHECK(gradcheck::first(attend, inputs) < 1e-8);
  CHECK(gradcheck::second(attend, inputs) < 1e-7);
}

TEST_CASE("a window hides earlier keys, even if the mask hides all remaining keys") {
  at::Tensor const qkv = rotate_sample({1, 5, 12}, 0.3);
  at::Tensor const mask = at::tensor({1, 1, 0, 0, 1}, at::kLong).to(at::kBool).unsqueeze(0);
  kernel::attention_options const o{.heads = 1, .kv_heads = 1, .causal = true, .window = 2, .key_mask = mask};
  at::Tensor const y = kernel::self_attention(qkv, o), v = qkv.narrow(2, 8, 4);
  CHECK(at::allclose(y[0][0], v[0][0]));
  CHECK(at::allclose(y[0][2], v[0][1]));  // the mask hides its own key
  // The mask hides both keys: the output is their mean
  CHECK(at::allclose(y[0][3], (v[0][2] + v[0][3]) / 2));
  CHECK(at::allclose(y[0][4], v[0][4]));
}
