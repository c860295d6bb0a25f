#include "torch_catch.hpp"

#include "recorded_updates.hpp"

#include <redco/update/any_optimizer.hpp>
#include <redco/update/detail/element_kernel.hpp>
#include <redco/update/detail/element_rules.hpp>
#include <redco/update/detail/wide.hpp>
#include <redco/update/matrix.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/update.hpp>

#include <redco/comm/thread_world.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/shard/entry.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/diag/error.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Compares optimizers with the updates that make_optimizers.py records.
namespace recorded {

namespace {

/// Updates the recorded problem five times by `rule`, and compares parameters and state with the
/// case `name`. `rate_at` returns the rate of an update.
template <class Rule, class Rate>
redco::update::segment check_case(std::string const& name, Rule const& rule, Rate const& rate_at, at::ScalarType type,
                                  double bound) {
  CAPTURE(name, type);
  auto const expected = updates_of(name);
  at::Tensor const param = first_values(12).to(type);
  redco::update::segment s = redco::update::make_segment(rule, param, at::zeros_like(param), true);
  for (std::int64_t step = 1; step <= 5; ++step) {
    // A count of 3, by which the update divides
    s.grad.copy_(gradient_at(param.to(at::kDouble), step) * 3);
    redco::update::update(rule, s, rate_at(step), step, 1.0 / 3);
    REQUIRE(largest_difference(param, tensor_of(expected["values"][static_cast<std::size_t>(step - 1)])) < bound);
  }
  auto const slots = redco::optimizer::state_slots(rule);
  REQUIRE(static_cast<std::size_t>(slots.size()) == expected["state"].size());
  for (int i = 0; i < slots.size(); ++i)
    REQUIRE(largest_difference(s.slots[static_cast<std::size_t>(i)],
                               tensor_of(expected["state"][std::string(slots[i])])) < bound);
  return s;
}

template <class Rule, class Rate>
void check_kernels(std::string const& name, Rule const& rule, Rate const& rate_at) {
  check_case(name, rule, rate_at, at::kDouble, 1e-14);
  check_case(name, rule, rate_at, at::kFloat, 3e-6);
  redco::tensors::forced_kernel_set const forced(redco::tensors::kernel_set::composed);
  check_case(name, rule, rate_at, at::kDouble, 1e-14);
}

/// SGD as a user writes it.
struct own_sgd {
  double lr = 0.1;
  static constexpr std::string_view name = "own";
  static constexpr std::array<std::string_view, 0> slots{};
  void update(redco::update::segment& own, double rate, std::int64_t) const {
    REQUIRE(own.slots.empty());
    own.param.sub_(own.grad, rate);
  }
};

double steady(std::int64_t) { return 0.03; }

}  // namespace

TEST_CASE("Lion follows the algorithm of its paper") {
  check_kernels("lion", redco::optimizer::lion{.beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1}, steady);
}

TEST_CASE("AdEMAMix follows the algorithm and the warm-up of its paper") {
  check_kernels(
      "ademamix",
      redco::optimizer::ademamix{
          .beta1 = 0.8, .beta2 = 0.95, .beta3 = 0.99, .alpha = 4, .warmup = 4, .eps = 1e-6, .weight_decay = 0.1},
      steady);
}

TEST_CASE("schedule-free AdamW follows the algorithm of its paper, and evaluates its average") {
  redco::optimizer::schedule_free const rule{
      .lr = {.peak = 0.03, .warmup = 3}, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .weight_decay = 0.1};
  auto const rate_at = [&](std::int64_t step) { return redco::optimizer::learning_rate_at(rule, step - 1, 5); };
  check_kernels("schedule_free", rule, rate_at);
  redco::update::segment const s = check_case("schedule_free", rule, rate_at, at::kDouble, 1e-14);
  CHECK(largest_difference(redco::update::any_optimizer(rule).evaluated(s),
                           tensor_of(updates_of("schedule_free")["evaluated"])) < 1e-14);
}

TEST_CASE("an average of the parameters follows torch's AveragedModel, for redco's rules and a user's") {
  auto const rate_at = [](std::int64_t) { return 0.1; };
  redco::optimizer::averaged const rule(redco::sgd{}, 0.7);
  redco::update::segment const s = check_case("averaged", rule, rate_at, at::kDouble, 1e-14);
  CHECK(redco::update::any_optimizer(rule).evaluated(s).is_same(s.slots[0]));
  CHECK(!redco::update::any_optimizer(redco::optimizer::averaged(redco::sgd{}, 0.7, false)).evaluated(s).defined());
  CHECK(!redco::update::any_optimizer(redco::sgd{}).evaluated(s).defined());
  check_case("averaged", redco::optimizer::averaged(own_sgd{}, 0.7), rate_at, at::kDouble, 1e-14);
}

namespace {

/// Returns the entry of a matrix `shape`, which the mesh cuts along `dim` over model shards.
redco::shard::entry matrix_entry(redco::extents const& shape, int dim, redco::mesh const& mesh,
                                 redco::shape::remainder rest = redco::shape::remainder::padded) {
  redco::shard::entry e;
  e.fact.shape = shape;
  e.fact.split(redco::shape::axis::tp, dim, dim < 0 ? 1 : shape[dim], rest);
  e.mesh = mesh;
  return e;
}

/// Writes the elements of the flat matrices `whole` that `rank` holds into `to`, without padding.
void scatter(std::vector<redco::update::matrix> const& matrices, at::Tensor const& whole, at::Tensor const& to) {
  std::int64_t begin = 0;
  for (redco::update::matrix const& m : matrices) {
    redco::extents const& shape = m.plan.fact.shape;
    at::Tensor const all = whole.narrow(0, begin, shape.count()).view({shape[0], shape[1]});
    m.held(m.part(to)).copy_(m.own(all));
    begin += shape.count();
  }
}

/// Updates the matrices [3, 5] and [6, 2] of the case `name` on the mesh, cut along `dims`. Throws
/// if a rank does not hold its part of the recorded values, and zeros in padding.
void check_muon(std::string const& name, redco::optimizer::muon const& rule, redco::mesh const& mesh,
                std::array<int, 2> dims) {
  CAPTURE(name, mesh.tp, dims[0], dims[1]);
  auto const expected = updates_of(name);
  redco::comm::run_ranks(mesh, {.threads = 1}, [&](redco::rank_context& rank) {
    redco::update::matrix const first{0, matrix_entry({3, 5}, dims[0], mesh), rank.rank};
    redco::update::matrix const second{first.plan.local().count(), matrix_entry({6, 2}, dims[1], mesh), rank.rank};
    std::vector<redco::update::matrix> const matrices{first, second};
    std::int64_t const held = second.begin + second.plan.local().count();
    at::Tensor const param = at::zeros({held}, at::kDouble), wanted = at::zeros_like(param);
    scatter(matrices, first_values(27), param);
    redco::update::segment s = redco::update::make_segment(rule, param, at::zeros_like(param), true,
                                                           at::zeros({held}, at::kBFloat16), matrices);
    at::Tensor values = first_values(27);
    for (std::int64_t step = 1; step <= 5; ++step) {
      scatter(matrices, gradient_at(values, step) * 3, s.grad);
      redco::update::update(rule, s, 0.03, step, 1.0 / 3, &rank);
      values = tensor_of(expected["values"][static_cast<std::size_t>(step - 1)]);
      scatter(matrices, values, wanted);
      if (largest_difference(param, wanted) > 1e-13)
        throw redco::error(redco::exit_code::internal, name + ": a parameter differs");
    }
    scatter(matrices, tensor_of(expected["state"]["momentum_buffer"]), wanted);
    if (largest_difference(s.slots[0], wanted) > 1e-13)
      throw redco::error(redco::exit_code::internal, name + ": the momentum differs");
    if (!at::equal(s.compute, param.to(at::kBFloat16)))
      throw redco::error(redco::exit_code::internal, name + ": the copy differs");
  });
}

}  // namespace

TEST_CASE("Muon follows torch's on one rank and on matrices cut by columns, by rows and with padding") {
  redco::optimizer::muon const rule{.momentum = 0.8, .weight_decay = 0.1};
  redco::optimizer::muon const original{
      .momentum = 0.8, .nesterov = false, .weight_decay = 0, .scale = redco::optimizer::muon_scale::original};
  for (int const ranks : {1, 2, 4})
    for (std::array<int, 2> const dims : {std::array{0, 1}, std::array{1, 0}, std::array{-1, 0}}) {
      check_muon("muon", rule, {.tp = ranks}, dims);
      check_muon("muon_original", original, {.tp = ranks}, dims);
    }
  CHECK_THROWS(check_muon("muon", original, {}, {0, 1}));
}

TEST_CASE("Muon gathers a matrix of which neighbouring ranks hold equal parts") {
  redco::mesh const mesh{.tp = 4};
  std::vector<int> equal(4);
  redco::comm::run_ranks(mesh, {.threads = 1}, [&](redco::rank_context& rank) {
    redco::shard::entry e = matrix_entry({6, 2}, -1, mesh);
    e.fact.split(redco::shape::axis::tp, 0, 2, redco::shape::remainder::shared);
    redco::update::matrix const m{0, e, rank.rank};
    at::Tensor const whole = first_values(12).view({6, 2});
    equal[static_cast<std::size_t>(rank.rank)] = at::equal(m.gathered(m.own(whole).clone(), &rank), whole);
  });
  CHECK(equal == std::vector<int>(4, 1));
  redco::update::matrix const split{0, matrix_entry({6, 2}, 0, mesh), 0};
  CHECK_THROWS_AS(split.gathered(at::zeros({2, 2}), nullptr), redco::error);
}

TEST_CASE("Muon updates parameters that are no hidden matrices by AdamW at its own rate") {
  redco::optimizer::muon const rule{.weight_decay = 0.3, .adam_rate = 0.5};
  redco::adamw const other{.beta2 = 0.95, .weight_decay = 0.3};
  auto const updated = [](auto const& by, double lr) {
    redco::update::segment s = redco::update::make_segment(by, first_values(12), first_values(12).cos(), true);
    for (std::int64_t step = 1; step <= 3; ++step) redco::update::update(by, s, lr, step);
    return s;
  };
  CHECK(at::equal(updated(rule, 0.02).param, updated(other, 0.01).param));
  CHECK(updated(rule, 0.02).slots.size() == 2);
}

TEST_CASE("no bit of an elementwise update depends on AVX2") {
  if (!redco::update::detail::has_avx2()) {
    WARN("skipped: this processor has no AVX2 with FMA");
    return;
  }
  auto const run = [](auto const& rule, bool wide) {
    constexpr std::size_t slots = std::remove_cvref_t<decltype(rule)>::slots;
    at::Tensor const values = first_values(1003).to(at::kFloat), grad = values.mul(3).sin(), p = values.clone(),
                     copy = at::zeros({1003}, at::kBFloat16);
    std::vector<at::Tensor> state;
    redco::update::detail::element_arrays<float, float, slots> arrays{
        p.data_ptr<float>(), grad.const_data_ptr<float>(), {}, copy.data_ptr<c10::BFloat16>()};
    for (std::size_t i = 0; i < slots; ++i) {
      state.push_back(values.mul(static_cast<double>(i) + 0.3).cos().abs());
      arrays.slots[i] = state[i].data_ptr<float>();
    }
    redco::update::detail::element_kernel(arrays, 0, 1003, rule, wide);
    state.push_back(p);
    state.push_back(copy.to(at::kFloat));
    return at::cat(state);
  };
  auto const check = [&](auto const& rule) { CHECK(at::equal(run(rule, true), run(rule, false))); };
  check(redco::update::detail::lion_rule<float>{0.3f, 0.99f, 0.9f, 0.1f, 0.95f, 0.05f, -0.01f});
  check(redco::update::detail::ademamix_rule<float>{0.3f, 0.02f, 0.9f, 0.1f, 0.99f, 0.01f, 0.95f, 0.05f, 1.3f, 2.5f,
                                                    1.7f, 1e-6f, -0.01f});
  check(redco::update::detail::schedule_free_rule<float>{0.3f, 0.02f, 0.95f, 0.05f, 1.7f, 1e-6f, 0.4f, -0.005f, -0.01f,
                                                         false});
}

}  // namespace recorded
