#include "torch_catch.hpp"

#include "cpu_launcher.hpp"
#include "tested_device.hpp"

#include <redco/update/detail/adam_kernel.hpp>
#include <redco/update/detail/composed.hpp>
#include <redco/update/detail/sgd_kernel.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/update.hpp>

#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/diag/error.hpp>

#include <ATen/Parallel.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

at::Tensor keyed_values(std::int64_t n, double seed, at::ScalarType type) {
  return (at::arange(n, at::kDouble) * 0.7 + seed).sin().mul((at::arange(n, at::kDouble) * 0.13 + seed).cos()).to(type);
}

struct trained {
  at::Tensor param, compute;
  std::vector<at::Tensor> slots;
};

// Runs five updates of one flat buffer that is split into segments at `cuts`.
template <class Rule>
trained five_updates(Rule const& rule, std::int64_t n, at::ScalarType type, at::ScalarType grad_type,
                     std::vector<std::int64_t> const& cuts, int threads = 1) {
  int const before = at::get_num_threads();
  at::set_num_threads(threads);
  trained result{keyed_values(n, 1, type), at::zeros({n}, at::kBFloat16), {}};
  redco::update::segment const whole =
      redco::update::make_segment(rule, result.param, at::empty({n}, grad_type), true, result.compute);
  for (std::int64_t step = 1; step <= 5; ++step) {
    whole.grad.copy_(keyed_values(n, 2 + 3 * static_cast<double>(step), at::kDouble) * 40);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      auto const part = [&](at::Tensor const& t) { return t.slice(0, cuts[i], cuts[i + 1]); };
      redco::update::segment piece{part(whole.param), part(whole.grad), {}, part(whole.compute), true};
      for (auto const& slot : whole.slots) piece.slots.push_back(part(slot));
      redco::update::update(rule, piece, 0.03, step, 1.0 / 40);
    }
  }
  result.slots = whole.slots;
  at::set_num_threads(before);
  return result;
}

void require_equal(trained const& a, trained const& b) {
  REQUIRE(at::equal(a.param, b.param));
  REQUIRE(at::equal(a.compute, b.compute));
  for (std::size_t i = 0; i < a.slots.size(); ++i) REQUIRE(at::equal(a.slots[i], b.slots[i]));
}

template <class Rule>
void check_cuts(Rule const& rule) {
  for (auto const type : {at::kFloat, at::kDouble})
    for (auto const grad_type : {type, at::kBFloat16}) {
      std::int64_t const n = 100'003;
      trained const once = five_updates(rule, n, type, grad_type, {0, n});
      require_equal(once, five_updates(rule, n, type, grad_type, {0, 1, 4, 9, 1000, 1007, 99'990, n}));
      require_equal(once, five_updates(rule, n, type, grad_type, {0, n}, 3));
      REQUIRE(at::equal(once.compute, once.param.to(at::kBFloat16)));
      REQUIRE(!at::equal(once.param, keyed_values(n, 1, type)));
    }
}

template <class Rule>
void check_reference(Rule const& rule) {
  constexpr std::int64_t n = 1003;
  for (auto const& [type, grad_type, bound] : {std::tuple(at::kDouble, at::kDouble, 1e-13),
                                               {at::kFloat, at::kFloat, 1e-5},
                                               {at::kFloat, at::kBFloat16, 1e-5}}) {
    trained const fast = five_updates(rule, n, type, grad_type, {0, n});
    redco::tensors::forced_kernel_set const forced(redco::tensors::kernel_set::composed);
    trained const reference = five_updates(rule, n, type, grad_type, {0, n});
    REQUIRE((fast.param - reference.param).abs().max().item<double>() < bound);
    for (std::size_t i = 0; i < fast.slots.size(); ++i)
      REQUIRE((fast.slots[i] - reference.slots[i]).abs().max().item<double>() < bound);
    REQUIRE(at::equal(reference.compute, reference.param.to(at::kBFloat16)));
  }
}

struct sign_rule {
  double lr = 1e-4;
  static constexpr std::string_view name = "sign";
  static constexpr std::array<std::string_view, 1> slots{"total"};
  void update(redco::update::segment& s, double rate, std::int64_t step) const {
    s.slots[0].add_(s.grad, static_cast<double>(step));
    s.param.sub_(s.grad.sign(), rate);
  }
};

struct described_only {
  double lr = 1e-4;
  static constexpr std::string_view name = "described";
  static constexpr std::array<std::string_view, 0> slots{};
};

static_assert(redco::update::optimizer<redco::adamw> && redco::update::optimizer<redco::adam> &&
              redco::update::optimizer<redco::sgd>);
static_assert(redco::update::optimizer<sign_rule> && redco::update::updating_optimizer<sign_rule>);
static_assert(!redco::update::updating_optimizer<redco::adamw> && !redco::update::optimizer<described_only>);

template <class Rule>
void refuses(Rule const& rule, redco::update::segment s, std::string const& why) {
  try {
    redco::update::update(rule, s, 0.1, 1);
    FAIL("accepted: " + why);
  } catch (redco::error const& e) {
    CAPTURE(e.what());
    REQUIRE(e.code() == redco::exit_code::internal);
    REQUIRE(std::string(e.what()).find(why) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("no bit of an update depends on the division of the buffer or on the threads") {
  check_cuts(redco::adamw{.beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1});
  check_cuts(redco::adamw{.beta1 = 0.5, .beta2 = 0.6, .amsgrad = true});
  check_cuts(redco::adam{.weight_decay = 0.05});
  check_cuts(redco::sgd{});
  check_cuts(redco::sgd{.momentum = 0.9, .dampening = 0.2, .weight_decay = 0.1});
  check_cuts(redco::sgd{.momentum = 0.9, .nesterov = true});
}

TEST_CASE("the composed updates and norm equal the kernels up to rounding") {
  check_reference(redco::adamw{.beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1});
  check_reference(redco::adamw{.beta1 = 0.5, .beta2 = 0.6, .amsgrad = true});
  check_reference(redco::adam{.weight_decay = 0.05});
  check_reference(redco::sgd{});
  check_reference(redco::sgd{.momentum = 0.9, .dampening = 0.2, .weight_decay = 0.1});
  check_reference(redco::sgd{.momentum = 0.9, .nesterov = true});
  at::Tensor const flat = keyed_values(1003, 4, at::kBFloat16);
  std::vector<redco::update::norm_range> const ranges{{3, 500, 1}, {500, 501, 0.5}, {700, 1003, 2}};
  double const fast = redco::update::squared_norm(flat, ranges);
  redco::tensors::forced_kernel_set const forced(redco::tensors::kernel_set::composed);
  REQUIRE(redco::update::squared_norm(flat, ranges) == Approx(fast).epsilon(1e-12));
  REQUIRE(redco::update::detail::composed_sum_of_squares(flat, 100).item<double>() ==
          Approx(flat.to(at::kDouble).square().sum().item<double>()).epsilon(1e-12));
}

TEST_CASE("the norm of device text on the CPU equals the CPU kernel up to the order of its sum") {
  std::vector<redco::update::norm_range> const ranges{{3, 500, 1}, {500, 501, 0.5}, {700, 1003, 2}};
  for (at::ScalarType const type : {at::kFloat, at::kBFloat16})
    for (unsigned const threads : {1u, 5u}) {
      at::Tensor const flat = keyed_values(1003, 4, type);
      redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
      double const expected = redco::update::squared_norm(flat, ranges);
      cpu_launcher launcher(threads, 3);
      redco::tensors::kernel_launcher::forced const forced(launcher);
      REQUIRE(redco::update::squared_norm(flat, ranges) == Approx(expected).epsilon(1e-12));
      REQUIRE(launcher.runs().at("sums_of_squares") == 3);
    }
}

TEST_CASE("the norm on the tested device equals the CPU's") {
  redco::update::norm_range const whole{0, 100'003, 1};
  for (at::ScalarType const type : {at::kFloat, at::kBFloat16}) {
    at::Tensor const flat = keyed_values(100'003, 4, type);
    double const expected = redco::update::squared_norm(flat, {&whole, 1});
    REQUIRE(redco::update::squared_norm(flat.to(tested_device()), {&whole, 1}) == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("Adam on the tested device gives the bits of the CPU kernel") {
  constexpr std::int64_t n = 100'003;
  for (at::ScalarType const grad_type : {at::kFloat, at::kBFloat16}) {
    redco::adamw const rule{.beta1 = 0.5, .beta2 = 0.6, .weight_decay = 0.1, .amsgrad = true};
    auto const updated = [&](at::Device device) {
      auto const there = [&](double seed, at::ScalarType type) { return keyed_values(n, seed, type).to(device); };
      redco::update::segment s = redco::update::make_segment(rule, there(1, at::kFloat), there(2, grad_type), true,
                                                             at::zeros({n}, there(1, at::kBFloat16).options()));
      for (std::int64_t step = 1; step <= 5; ++step) redco::update::update(rule, s, 0.03, step, 0.5);
      return trained{redco::tensors::to_cpu(s.param), redco::tensors::to_cpu(s.compute), {}};
    };
    require_equal(updated(tested_device()), updated(redco::tensors::cpu_device()));
  }
}

TEST_CASE("the wide kernels give the bits of the plain ones") {
  if (!redco::update::detail::has_avx2()) {
    WARN("skipped: this processor has no AVX2 with FMA");
    return;
  }
  std::int64_t const n = 1003;
  auto const run = [&](bool wide) {
    at::Tensor const p = keyed_values(n, 1, at::kFloat), m = keyed_values(n, 2, at::kFloat),
                     v = keyed_values(n, 3, at::kFloat).abs(), top = keyed_values(n, 4, at::kFloat).abs(),
                     buffer = keyed_values(n, 5, at::kFloat), grad = keyed_values(n, 6, at::kBFloat16),
                     copy = at::zeros({2 * n}, at::kBFloat16);
    redco::update::detail::adam_kernel<float, c10::BFloat16>(
        {p.data_ptr<float>(), grad.const_data_ptr<c10::BFloat16>(), m.data_ptr<float>(), v.data_ptr<float>(),
         top.data_ptr<float>(), copy.data_ptr<c10::BFloat16>()},
        0, n, {0.3f, 0.02f, 0.99f, 0.1f, 0.95f, 0.05f, 1.7f, 1e-6f, -0.01f}, wide);
    redco::update::detail::sgd_kernel<float, c10::BFloat16>(
        {p.data_ptr<float>(), grad.const_data_ptr<c10::BFloat16>(), buffer.data_ptr<float>(),
         copy.data_ptr<c10::BFloat16>() + n},
        0, n, {0.3f, 0.02f, 0.9f, 0.7f, -0.01f, 0.8f, true}, wide);
    return at::cat({p, m, v, top, buffer, copy.to(at::kFloat)});
  };
  REQUIRE(at::equal(run(true), run(false)));
}

TEST_CASE("Adam of device text, run on the CPU, gives the bits of the CPU's kernel") {
  constexpr std::int64_t n = 1003;
  for (at::ScalarType const grad_type : {at::kFloat, at::kBFloat16, at::kDouble})
    for (unsigned const threads : {1u, 5u}) {
      redco::adamw const decayed{.beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1};
      redco::adamw const with_top{.beta1 = 0.5, .beta2 = 0.6, .amsgrad = true};
      redco::adam const penalized{.weight_decay = 0.05};
      auto const run = [&](auto const& rule) { return five_updates(rule, n, at::kFloat, grad_type, {0, 1, 500, n}); };
      redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
      trained const a = run(decayed), b = run(with_top), c = run(penalized);
      cpu_launcher launcher(threads, 3);
      redco::tensors::kernel_launcher::forced const forced(launcher);
      require_equal(run(decayed), a);
      require_equal(run(with_top), b);
      require_equal(run(penalized), c);
      REQUIRE(launcher.runs().at("adam_update") == 3 * 3 * 5);
    }
}

template <class Rule>
static void check_rounding(Rule const& rule) {
  std::vector<float> values{1.0f, 1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f, 1e-40f, 0.0f, -0.0f};
  values.push_back(std::numeric_limits<float>::infinity());
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  values.insert(values.end(), values.begin(), values.begin() + 10);
  at::Tensor const param = at::tensor(values), compute = at::empty({param.numel()}, at::kBFloat16);
  redco::update::segment s = redco::update::make_segment(rule, param, at::zeros_like(param), true, compute);
  redco::update::update(rule, s, 0.0, 1);
  at::Tensor const expected = param.to(at::kBFloat16).to(at::kFloat), got = compute.to(at::kFloat);
  REQUIRE(at::equal(at::isnan(expected), at::isnan(got)));
  REQUIRE(at::equal(at::nan_to_num(expected), at::nan_to_num(got)));
  REQUIRE(got[1].item<float>() == 1.0f);
  REQUIRE(got[2].item<float>() == 1.015625f);
}

TEST_CASE("the bf16 copy rounds as ATen does, ties, infinities and NaN included") {
  check_rounding(redco::sgd{});
  cpu_launcher launcher(1);
  redco::tensors::kernel_launcher::forced const forced(launcher);
  check_rounding(redco::adamw{.weight_decay = 0});
}

TEST_CASE("weight decay applies to its segment, or to all with decay_all") {
  redco::adamw rule{.weight_decay = 0.5};
  auto const after = [&](bool decay) {
    redco::update::segment s = redco::update::make_segment(rule, at::full({3}, 2.0), at::zeros({3}), decay);
    redco::update::update(rule, s, 0.1, 1);
    return s.param[1].item<double>();
  };
  REQUIRE(after(true) == Approx(2 * (1 - 0.1 * 0.5)));
  REQUIRE(after(false) == 2.0);
  rule.decay_all = true;
  REQUIRE(after(false) == Approx(2 * (1 - 0.1 * 0.5)));
}

TEST_CASE("a user's own optimizer gets the scaled gradient, its slots and a written copy") {
  sign_rule const rule{};
  at::Tensor const compute = at::zeros({3}, at::kBFloat16);
  redco::update::segment s =
      redco::update::make_segment(rule, at::full({3}, 1.0f), at::tensor(std::vector<float>{4, -8, 0}), true, compute);
  redco::update::update(rule, s, 0.25, 3, 0.5);
  REQUIRE(at::equal(s.param, at::tensor(std::vector<float>{0.75f, 1.25f, 1.0f})));
  REQUIRE(at::equal(s.slots[0], at::tensor(std::vector<float>{6, -12, 0})));
  REQUIRE(at::equal(compute, s.param.to(at::kBFloat16)));
}

TEST_CASE("a segment that is not flat, of one length and of the right slots is refused") {
  redco::adamw const rule{};
  redco::update::segment const good = redco::update::make_segment(rule, at::zeros({6}), at::zeros({6}), true);
  redco::update::segment s = good;
  s.grad = at::zeros({5});
  refuses(rule, s, "grad");
  s = good;
  s.param = at::zeros({2, 3});
  refuses(rule, s, "param");
  s = good;
  s.slots.pop_back();
  refuses(rule, s, "1 slots where the optimizer keeps 2");
  s = good;
  s.slots[1] = at::zeros({6}, at::kDouble);
  refuses(rule, s, "another dtype");
  s = good;
  s.compute = at::zeros({12}, at::kBFloat16).slice(0, 0, 12, 2);
  refuses(rule, s, "compute copy");
  refuses(rule, redco::update::make_segment(rule, at::zeros({6}, at::kHalf), at::zeros({6}), true), "Half");
}

TEST_CASE("an update is invisible to autograd and accepts masters that require gradients") {
  redco::sgd const rule{};
  at::Tensor const param = at::ones({4}).requires_grad_();
  redco::update::segment s = redco::update::make_segment(rule, param, at::ones({4}), true);
  redco::update::update(rule, s, 0.5, 1);
  REQUIRE(at::equal(param.detach(), at::full({4}, 0.5f)));
  REQUIRE(!s.param.grad_fn());
}
