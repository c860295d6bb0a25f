#include "torch_catch.hpp"

#include <redco/kernel/norms.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/diag/error.hpp>

#include "gradcheck.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

gradcheck::tensor_list norm_inputs(std::int64_t rows, std::int64_t n) {
  auto const x =
      at::sin(at::arange(rows * n, at::kDouble) * 1.3).view({rows, n}) * 2 + at::arange(n, at::kDouble) * 0.01;
  auto const w = at::cos(at::arange(n, at::kDouble)) + 1.5, b = at::sin(at::arange(n, at::kDouble) * 0.7);
  return {x, w, b};
}

at::Tensor norm_of(gradcheck::tensor_list const& t, bool centered) {
  return centered ? redco::kernel::layer_norm(t[0], t[1], t[2], 1e-5) : redco::kernel::rms_norm(t[0], t[1], 1e-6);
}

at::Tensor norm_around_one(gradcheck::tensor_list const& t, bool) {
  return redco::kernel::rms_norm(t[0], t[1], 1e-6, 1);
}

at::Tensor norm_reference(gradcheck::tensor_list const& t, bool centered) {
  std::int64_t const n = t[0].size(-1);
  return centered ? at::layer_norm(t[0], {n}, t[1], t[2], 1e-5)
                  : t[0] * (t[0] * t[0]).mean(-1, true).add(1e-6).rsqrt() * t[1];
}

// Returns value and gradients in f64.
template <class F>
gradcheck::tensor_list norm_results(F const& f, gradcheck::tensor_list inputs, bool centered, at::ScalarType dtype) {
  if (!centered) inputs.pop_back();
  for (auto& t : inputs) t = t.detach().to(dtype).requires_grad_();
  auto const y = f(inputs, centered);
  auto const g = gradcheck::weights_for(y.detach().to(at::kDouble), 0.2).to(dtype);
  auto results = torch::autograd::grad({y}, inputs, {g});
  results.push_back(y.detach());
  for (auto& t : results) t = t.to(at::kDouble);
  return results;
}

}  // namespace

TEST_CASE("norms and their gradients equal the reference in f64, f32 and bf16 for rows of any length") {
  for (bool const centered : {true, false})
    for (std::int64_t const n : {1, 5, 16, 37, 384})
      for (std::int64_t const rows : {1, 63, 131}) {
        auto const inputs = norm_inputs(rows, n);
        for (auto const& [dtype, bound] :
             {std::pair(at::kDouble, 1e-11), std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 2e-2)}) {
          if (n == 1 && dtype != at::kDouble)
            continue;  // the layer norm of one number is rounding noise over sqrt(epsilon)
          INFO("centered " << centered << " n " << n << " rows " << rows << " " << dtype);
          auto rounded = inputs;
          for (auto& t : rounded) t = t.to(dtype).to(at::kDouble);
          auto const ours = norm_results(norm_of, inputs, centered, dtype);
          auto const expected = norm_results(norm_reference, rounded, centered, at::kDouble);
          for (std::size_t i = 0; i < ours.size(); ++i) {
            // A sum over rows is compared with the size of its addends.
            double const scale = 1 + expected[i].abs().max().item().toDouble();
            CHECK((ours[i] - expected[i]).abs().max().item().toDouble() / scale < bound);
          }
        }
      }
}

TEST_CASE("an rms norm with offset 1 multiplies by 1 + weight in f32, also for weights in bf16") {
  for (std::int64_t const n : {5, 37}) {
    auto inputs = norm_inputs(63, n);
    inputs[1] = inputs[1] - 1.5;
    auto const reference = [](gradcheck::tensor_list const& t, bool) {
      return norm_reference({t[0], 1 + t[1]}, false);
    };
    for (auto const& [dtype, bound] :
         {std::pair(at::kDouble, 1e-11), std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 2e-2)}) {
      INFO("n " << n << " " << dtype);
      auto rounded = inputs;
      for (auto& t : rounded) t = t.to(dtype).to(at::kDouble);
      auto const ours = norm_results(norm_around_one, inputs, false, dtype),
                 expected = norm_results(reference, rounded, false, at::kDouble);
      for (std::size_t i = 0; i < ours.size(); ++i)
        CHECK((ours[i] - expected[i]).abs().max().item().toDouble() / (1 + expected[i].abs().max().item().toDouble()) <
              bound);
    }
  }
  // 1 + 2^-10 is 1 in bf16
  at::Tensor const x = at::full({1, 2}, 3.0f), w = at::full({2}, 1.0 / 1024, at::kBFloat16);
  CHECK(redco::kernel::rms_norm(x, w, 0, 1)[0][0].item<float>() == Approx(1 + 1.0 / 1024).epsilon(1e-6));
  CHECK(redco::kernel::rms_norm(x.to(at::kDouble), w, 0, 1)[0][0].item<double>() == Approx(1 + 1.0 / 1024));
}

TEST_CASE("norms read strided and empty inputs and parameters of another dtype") {
  auto const t = norm_inputs(24, 38);
  auto const x = t[0].to(at::kFloat).view({4, 6, 38}).transpose(0, 1);
  auto const w = t[1].to(at::kFloat), b = t[2].to(at::kFloat);
  auto const whole = redco::kernel::layer_norm(x.contiguous(), w, b, 1e-5);
  CHECK(at::equal(redco::kernel::layer_norm(x, w, b, 1e-5), whole));
  CHECK(at::allclose(redco::kernel::layer_norm(x, {}, {}, 1e-5) * w + b, whole, 1e-5, 1e-5));
  CHECK(redco::kernel::layer_norm(x.slice(0, 0, 0), w, b, 1e-5).sizes() == at::IntArrayRef({0, 4, 38}));
  CHECK(redco::kernel::rms_norm(x.to(at::kBFloat16), w, 1e-5).scalar_type() == at::kBFloat16);
  CHECK_THROWS_AS(redco::kernel::rms_norm(x, w.slice(0, 0, 5), 1e-5), redco::error);
}

TEST_CASE("norms are differentiable twice, with respect to their parameters too") {
  auto t = norm_inputs(2, 5);
  for (auto& x : t) x.requires_grad_();
  CHECK(gradcheck::first([](auto const& x) { return norm_of(x, true); }, t) < 1e-7);
  CHECK(gradcheck::second([](auto const& x) { return norm_of(x, true); }, t) < 1e-6);
  t.pop_back();
  CHECK(gradcheck::first([](auto const& x) { return norm_of(x, false); }, t) < 1e-7);
  CHECK(gradcheck::second([](auto const& x) { return norm_of(x, false); }, t) < 1e-6);
  CHECK(gradcheck::first([](auto const& x) { return norm_around_one(x, false); }, t) < 1e-7);
  CHECK(gradcheck::second([](auto const& x) { return norm_around_one(x, false); }, t) < 1e-6);
}

TEST_CASE("an rms norm of features that are split over ranks equals that of all features, with its gradients") {
  auto const whole = norm_inputs(7, 10);
  auto const expected = norm_results(norm_reference, whole, false, at::kDouble);
  at::Tensor const gradient = gradcheck::weights_for(expected.back(), 0.2);
  // Ranks have 3 and 7 features, then both have all of them, as key-value heads that ranks share.
  std::int64_t const begins[] = {0, 3, 10};
  std::array<double, 2> apart{}, apart_shared{};
  redco::comm::run_ranks({.dp = 1, .tp = 2}, {}, [&](redco::rank_context& rank) {
    auto const index = static_cast<std::size_t>(rank.rank);
    auto const own = [&](at::Tensor const& x) { return x.slice(-1, begins[index], begins[index + 1]); };
    auto const distance = [](at::Tensor const& a, at::Tensor const& b) { return (a - b).abs().max().item<double>(); };
    gradcheck::tensor_list const parts{own(whole[0]).clone().requires_grad_(), own(whole[1]).clone().requires_grad_()};
    auto const y = redco::kernel::split_rms_norm(parts[0], parts[1], 1e-6, {&rank.tp}, 10);
    auto const found = torch::autograd::grad({y}, parts, {own(gradient)});
    apart[index] = distance(y, own(expected[2]));
    for (std::size_t i = 0; i < 2; ++i) apart[index] = std::max(apart[index], distance(found[i], own(expected[i])));

    // Features that both ranks hold count on both. Each rank has a part of their gradient.
    gradcheck::tensor_list const all{whole[0].clone().requires_grad_(), whole[1].clone().requires_grad_()};
    auto const z = redco::kernel::split_rms_norm(all[0], all[1], 1e-6, {&rank.tp}, 20);
    auto const shared = torch::autograd::grad({z}, all, {gradient * (rank.rank == 0 ? 0.25 : 0.75)});
    apart_shared[index] = distance(z, expected[2]);
    for (std::size_t i = 0; i < 2; ++i)
      apart_shared[index] = std::max(apart_shared[index], distance(rank.tp.all_reduced(shared[i]), expected[i]));
  });
  for (std::size_t rank = 0; rank < 2; ++rank) CHECK((apart[rank] < 1e-11 && apart_shared[rank] < 1e-11));
}

TEST_CASE("first and second derivatives of a split rms norm are exact") {
  auto const norm = [](gradcheck::tensor_list const& t) {
    return redco::kernel::split_rms_norm(t[0], t[1], 1e-6, {}, 8);
  };
  auto inputs = norm_inputs(3, 5);
  inputs.pop_back();
  for (auto& t : inputs) t.requires_grad_();
  CHECK(gradcheck::first(norm, inputs) < 1e-8);
  CHECK(gradcheck::second(norm, inputs) < 1e-7);
}
