#include "torch_catch.hpp"

#include <redco/update/detail/sum_of_squares.hpp>
#include <redco/update/gradient_norm.hpp>

#include <redco/comm/in_process_group.hpp>

#include <ATen/Parallel.h>
#include <torch/nn/utils/clip_grad.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

TEST_CASE("the squared norm is the sum over its ranges with their weights, in f64") {
  std::int64_t const n = 70'001;
  at::Tensor const wide = (at::arange(n, at::kDouble) * 0.31).sin();
  std::array<redco::update::norm_range, 4> const ranges{
      {{0, 7, 1.0}, {7, 40'000, 0.5}, {40'000, 40'100, 0.0}, {40'100, n, 0.25}}};
  for (auto const type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    at::Tensor const flat = wide.to(type);
    at::Tensor const square = flat.to(at::kDouble).square();
    double expected = 0;
    for (auto const& range : ranges)
      expected += range.weight * square.slice(0, range.begin, range.end).sum().item<double>();
    REQUIRE(redco::update::squared_norm(flat, ranges) == Approx(expected).epsilon(1e-12));
  }
  REQUIRE(redco::update::squared_norm(wide, {}) == 0);
}

TEST_CASE("the squared norm has the same bits on any number of threads and without wide registers") {
  at::Tensor const flat = (at::arange(1'000'003, at::kFloat) * 0.31f).sin();
  redco::update::norm_range const whole{0, flat.numel()};
  int const before = at::get_num_threads();
  at::set_num_threads(1);
  double const one = redco::update::squared_norm(flat, {&whole, 1});
  at::set_num_threads(3);
  double const three = redco::update::squared_norm(flat, {&whole, 1});
  at::set_num_threads(before);
  REQUIRE(one == three);
  double plain = 0;
  for (std::int64_t begin = 0; begin < flat.numel(); begin += 1 << 14)
    plain += redco::update::detail::sum_of_squares(flat.const_data_ptr<float>() + begin,
                                                   std::min<std::int64_t>(1 << 14, flat.numel() - begin), false);
  REQUIRE(one == plain);
}

TEST_CASE("the largest magnitude is exact, leaves out ranges without weight, and is NaN with a NaN") {
  std::int64_t const n = 70'001;
  at::Tensor const wide = (at::arange(n, at::kDouble) * 0.31).sin();
  wide[40'050] = 9;
  wide[3] = -2;
  wide[50'000] = 1.5;
  std::array<redco::update::norm_range, 4> const ranges{
      {{0, 7, 1.0}, {7, 40'000, 0.5}, {40'000, 40'100, 0.0}, {40'100, n, 0.25}}};
  for (auto const type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    CHECK(redco::update::largest_magnitude(wide.to(type), ranges) == 2);
    CHECK(redco::update::largest_magnitude(-wide.to(type), ranges) == 2);
    CHECK(redco::update::largest_magnitude(wide.to(type), {ranges.data() + 3, 1}) == 1.5);
    at::Tensor const undefined = wide.clone().to(type);
    undefined[20] = std::nan("");
    CHECK(std::isnan(redco::update::largest_magnitude(undefined, ranges)));
    CHECK(redco::update::largest_magnitude(undefined, {ranges.data() + 3, 1}) == 1.5);
  }
  redco::update::norm_range const none{5, 5};
  CHECK(redco::update::largest_magnitude(wide, {&none, 1}) == 0);
}

TEST_CASE("norms and clipped gradients of both kinds are those of torch's clip_grad_norm_") {
  at::Tensor const flat = (at::arange(31, at::kDouble) * 0.37).sin() * 3;
  redco::update::norm_range const whole{0, 31};
  for (double const limit : {0.5, 4.0}) {
    for (bool const inf : {false, true}) {
      std::vector<at::Tensor> parameters;
      for (at::Tensor const& gradient : flat.clone().split(7)) {
        parameters.push_back(at::zeros_like(gradient).requires_grad_());
        parameters.back().mutable_grad() = gradient;
      }
      double const wanted = torch::nn::utils::clip_grad_norm_(parameters, limit, inf ? HUGE_VAL : 2.0);
      double const norm = inf ? redco::update::largest_magnitude(flat, {&whole, 1})
                              : std::sqrt(redco::update::squared_norm(flat, {&whole, 1}));
      CAPTURE(limit, inf);
      CHECK(norm == Approx(wanted).epsilon(inf ? 0 : 1e-14));
      at::Tensor const clipped = flat * redco::update::clip_factor(norm, limit);
      for (std::size_t i = 0; i < parameters.size(); ++i)
        CHECK(at::allclose(clipped.split(7)[i], parameters[i].grad(), 1e-14, 0));
    }
  }
}

TEST_CASE("gradients above the limit are scaled to it, and smaller ones are unchanged") {
  REQUIRE(redco::update::clip_factor(3.0, 0.0) == 1.0);
  REQUIRE(redco::update::clip_factor(3.0, 4.0) == 1.0);
  REQUIRE(redco::update::clip_factor(8.0, 2.0) == 2.0 / (8.0 + 1e-6));
}

TEST_CASE("the norm of a sharded gradient equals the norm of the whole gradient on every rank") {
  at::Tensor const split = (at::arange(14, at::kDouble) * 0.7).sin(), shared = (at::arange(5, at::kDouble) * 0.9).cos();
  double const expected = at::cat({split, shared}).norm().item<double>() / 48;
  for (int const size : {1, 2, 3}) {
    auto const groups = redco::comm::in_process_group::make("tp", size);
    std::vector<double> norms(static_cast<std::size_t>(size)), largest(norms);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < size; ++rank)
      ranks.emplace_back([&, rank] {
        // 14 elements over 3 ranks are padded to 15. The norm must not include the padding.
        std::int64_t const part = (14 + size - 1) / size;
        std::int64_t const begin = rank * part;
        std::int64_t const end = std::min<std::int64_t>(begin + part, 14);
        at::Tensor const padding = at::full({part - (end - begin)}, 99.0, at::kDouble);
        at::Tensor const flat = at::cat({split.slice(0, begin, end), padding, shared});
        std::array<redco::update::norm_range, 2> const ranges{{{0, end - begin, 1.0}, {part, part + 5, 1.0 / size}}};
        auto const mine = static_cast<std::size_t>(rank);
        norms[mine] = redco::update::gradient_norm(redco::update::squared_norm(flat, ranges), *groups[mine], 48);
        largest[mine] =
            redco::update::gradient_inf_norm(redco::update::largest_magnitude(flat, ranges), *groups[mine], 48);
      });
    for (auto& rank : ranks) rank.join();
    for (double const norm : norms) {
      REQUIRE(norm == Approx(expected).epsilon(1e-14));
      REQUIRE(norm == norms[0]);
    }
    for (double const norm : largest) REQUIRE(norm == at::cat({split, shared}).abs().max().item<double>() / 48);
  }
}
