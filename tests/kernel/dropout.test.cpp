#include "torch_catch.hpp"

#include <redco/kernel/dropout.hpp>
#include <redco/random/philox.hpp>
#include <redco/random/stream.hpp>
#include <redco/diag/error.hpp>

#include "gradcheck.hpp"

#include <cmath>
#include <cstdint>

namespace {

constexpr redco::random::stream dropout_numbers = redco::random::make_stream(7, 1, 2, 3);

}  // namespace

TEST_CASE("dropout drops by the random word of row, position and feature and scales the kept elements") {
  auto const x = at::arange(1, 2 * 3 * 5 * 11 + 1, at::kDouble).view({2, 3, 5, 11});
  auto const y = redco::kernel::dropout(x, 0.25, dropout_numbers, 40, 6);
  int wrong = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    auto const f = 6 + i % 11, position = i / 11 % 15, row = 40 + i / 165;
    auto const word = redco::random::philox(
        {static_cast<std::uint32_t>(f / 4), static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(row), 0},
        dropout_numbers)[static_cast<std::size_t>(f % 4)];
    double const expected = word < (1u << 30) ? 0.0 : static_cast<double>(i + 1) / 0.75;
    wrong += std::abs(y.view({-1})[i].item().toDouble() - expected) > 1e-12;
  }
  CHECK(wrong == 0);
}

TEST_CASE("dropout of a shard equals the shard of the dropout, for odd cuts of rows, positions and features") {
  auto const wide = at::ones({7, 9, 1171});
  for (auto const dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
    auto const x = wide.to(dtype), whole = redco::kernel::dropout(x, 0.1, dropout_numbers, 0, 0);
    auto const rows = redco::kernel::dropout(x.slice(0, 3), 0.1, dropout_numbers, 3, 0);
    CHECK(at::equal(rows, whole.slice(0, 3)));
    auto const features = redco::kernel::dropout(x.slice(2, 385, 1003), 0.1, dropout_numbers, 0, 385);
    CHECK(at::equal(features, whole.slice(2, 385, 1003)));
    auto const positions = redco::kernel::dropout(x.slice(1, 5), 0.1, dropout_numbers, 0, 0, 5);
    CHECK(at::equal(positions, whole.slice(1, 5)));
  }
}

TEST_CASE("dropout keeps the share and the mean of its probability, differently for every stream") {
  auto const x = at::ones({64, 50, 384});
  auto const y = redco::kernel::dropout(x, 0.1, dropout_numbers, 0, 0);
  double const dropped = (y == 0).to(at::kDouble).mean().item().toDouble();
  CHECK(std::abs(dropped - 0.1) < 4 * 0.3 / std::sqrt(64.0 * 50 * 384));
  CHECK(std::abs(y.to(at::kDouble).mean().item().toDouble() - 1) < 0.002);
  auto const other = redco::kernel::dropout(x, 0.1, redco::random::make_stream(7, 1, 3, 3), 0, 0);
  double const both = ((y == 0) & (other == 0)).to(at::kDouble).mean().item().toDouble();
  CHECK(std::abs(both - 0.01) < 0.001);
}

TEST_CASE("dropout's gradient has the mask of its value, and its derivatives are exact at every order") {
  auto const x = at::ones({3, 4, 37}, at::kFloat).requires_grad_();
  auto const y = redco::kernel::dropout(x, 0.3, dropout_numbers, 5, 2);
  CHECK(at::equal(torch::autograd::grad({y.sum()}, {x})[0], y.detach()));
  auto const f = [](gradcheck::tensor_list const& t) {
    auto const d = redco::kernel::dropout(t[0], 0.4, dropout_numbers, 1, 3);
    return d * d * d;
  };
  auto const small = at::linspace(-1, 2, 14, at::kDouble).view({2, 7}).requires_grad_();
  CHECK(gradcheck::first(f, {small}) < 1e-7);
  CHECK(gradcheck::second(f, {small}) < 1e-6);
}

TEST_CASE("dropout reads strided and empty tensors, and returns x for probability 0") {
  auto const x = at::arange(6 * 5 * 4, at::kFloat).view({6, 5, 4});
  auto const turned = x.transpose(0, 2);
  CHECK(at::equal(redco::kernel::dropout(turned, 0.5, dropout_numbers, 0, 0),
                  redco::kernel::dropout(turned.contiguous(), 0.5, dropout_numbers, 0, 0)));
  CHECK(redco::kernel::dropout(x.slice(1, 0, 0), 0.5, dropout_numbers, 0, 0).sizes() == at::IntArrayRef({6, 0, 4}));
  CHECK(redco::kernel::dropout(x, 0, dropout_numbers, 0, 0).is_same(x));
}

TEST_CASE("dropout refuses probabilities outside [0, 1), one dimension and integers") {
  CHECK_THROWS_AS(redco::kernel::dropout(at::ones({2, 2}), 1.0, dropout_numbers, 0, 0), redco::error);
  CHECK_THROWS_AS(redco::kernel::dropout(at::ones({2, 2}), std::nan(""), dropout_numbers, 0, 0), redco::error);
  CHECK_THROWS_AS(redco::kernel::dropout(at::ones({2}), 0.1, dropout_numbers, 0, 0), redco::error);
  CHECK_THROWS_AS(redco::kernel::dropout(at::ones({2, 2}, at::kLong), 0.1, dropout_numbers, 0, 0), redco::error);
}
