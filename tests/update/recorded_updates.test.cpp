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

TEST_CASE("schedule-free AdamW without warm-up decays the parameters in its first update, too") {
  // y = z = p - lr (g / (|g| + eps) + weight_decay p), because z is the whole average at first.
  redco::optimizer::schedule_free const rule{.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.5};
  at::Tensor const before = first_values(12), gradient = gradient_at(before, 1);
  at::Tensor const after = before - (gradient / (gradient.abs() + 1e-3) + before * 0.5) * 0.03;
  auto const check = [&](at::ScalarType type, double bound) {
    at::Tensor const param = before.to(type, false, true);
    redco::update::segment s = redco::update::make_segment(rule, param, gradient.to(type), true);
    redco::update::update(rule, s, 0.03, 1, 1);
    CHECK(largest_difference(param, after) < bound);
    CHECK(largest_difference(s.slots[0], after) < bound);
  };
  check(at::kDouble, 1e-14);
  check(at::kFloat, 3e-6);
  redco::tensors::forced_kernel_set const forced(redco::tensors::kernel_set::composed);
  check(at::kDouble, 1e-14);
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

namespace {

/// Returns the part of `flat`, the recorded elements of all parameters, from element `begin` on, in
/// the shape `shape`.
at::Tensor recorded_part(at::Tensor const& flat, std::int64_t begin, redco::extents const& shape) {
  std::vector<std::int64_t> const sizes(shape.size.begin(), shape.size.begin() + shape.rank);
  return flat.narrow(0, begin, shape.count()).view(sizes);
}

/// Parameters of one segment, and the number of elements before them in the recorded case.
struct whole_segment {
  std::vector<redco::update::matrix> all;
  std::int64_t first = 0;

  void put(at::Tensor const& flat, at::Tensor const& to) const {
    std::int64_t begin = first;
    for (redco::update::matrix const& m : all) {
      m.held(m.part(to)).copy_(m.own(recorded_part(flat, begin, m.plan.fact.shape)));
      begin += m.plan.fact.shape.count();
    }
  }

  /// Returns the largest difference of a slot of `s` from the recorded slot `flat`, whose padding
  /// must be 0.
  double slot_difference(redco::update::segment const& s, std::size_t i, redco::optimizer::slot_form form,
                         at::Tensor const& flat) const {
    double worst = 0;
    std::int64_t begin = form == redco::optimizer::slot_form::whole && flat.numel() > 50 ? first : 0;
    for (redco::update::matrix const& m : s.matrices) {
      redco::update::matrix const of_slot{0, m.plan_of(form), m.rank};
      at::Tensor const wanted = at::zeros_like(m.slot(s.slots[i], form));
      of_slot.held(wanted).copy_(of_slot.own(recorded_part(flat, begin, of_slot.plan.fact.shape)));
      if (wanted.numel() > 0) worst = std::max(worst, largest_difference(m.slot(s.slots[i], form), wanted));
      begin += of_slot.plan.fact.shape.count();
    }
    return worst;
  }
};

/// Updates the parameters of the case `name` on the mesh. The matrices [3, 5], [6, 2] and the stack
/// [2, 3, 4] are cut along `dims`, the vector [7] is cut if `cut` is true.
void check_adafactor(std::string const& name, redco::optimizer::adafactor const& rule, redco::mesh const& mesh,
                     std::array<int, 3> dims, bool cut) {
  CAPTURE(name, mesh.tp, dims[0], dims[1], dims[2], cut);
  auto const expected = updates_of(name);
  redco::comm::run_ranks(mesh, {.threads = 1}, [&](redco::rank_context& rank) {
    std::vector<whole_segment> parts(2);
    parts[1].first = 51;
    std::int64_t held = 0;
    for (auto const& [shape, dim] : {std::pair(redco::extents{3, 5}, dims[0]), std::pair(redco::extents{6, 2}, dims[1]),
                                     std::pair(redco::extents{2, 3, 4}, dims[2])}) {
      parts[0].all.push_back({held, matrix_entry(shape, dim, mesh), rank.rank});
      held += parts[0].all.back().plan.local().count();
    }
    parts[1].all.push_back({0, matrix_entry({7}, cut ? 0 : -1, mesh), rank.rank});
    std::vector<redco::update::segment> segments;
    for (whole_segment const& part : parts) {
      std::int64_t const n = &part == &parts[0] ? held : part.all[0].plan.local().count();
      at::Tensor const param = at::zeros({n}, at::kDouble);
      part.put(first_values(58), param);
      segments.push_back(redco::update::make_segment(rule, param, at::zeros_like(param), true,
                                                     at::zeros({n}, at::kBFloat16), part.all));
    }
    auto const must = [&](double difference, char const* of) {
      if (!(difference < 1e-13))
        throw redco::error(redco::exit_code::internal, name + ": " + of + " differ by " + std::to_string(difference));
    };
    at::Tensor values = first_values(58);
    for (std::int64_t step = 1; step <= 5; ++step) {
      at::Tensor const gradient = gradient_at(values, step) * 3;
      values = tensor_of(expected["values"][static_cast<std::size_t>(step - 1)]);
      for (std::size_t i = 0; i < 2; ++i) {
        redco::update::segment& s = segments[i];
        parts[i].put(gradient, s.grad);
        double const rate = redco::optimizer::learning_rate_at(rule, step - 1, 5);
        redco::update::update(rule, s, rate, step, 1.0 / 3, &rank);
        at::Tensor const wanted = at::zeros_like(s.param);
        parts[i].put(values, wanted);
        must(largest_difference(s.param, wanted), "parameters");
        must(at::equal(s.compute, s.param.to(at::kBFloat16)) ? 0 : 1, "copies");
      }
    }
    for (std::size_t i = 0; i < 2; ++i) {
      redco::optimizer::slot_list const slots = redco::update::slots_of(rule, segments[i]);
      for (int k = 0; k < slots.size(); ++k)
        must(parts[i].slot_difference(segments[i], static_cast<std::size_t>(k), slots.form(k),
                                      tensor_of(expected["state"][std::string(slots[k])])),
             "slots");
    }
  });
}

}  // namespace

TEST_CASE("Adafactor follows transformers' on one rank and on parameters cut along any dimension") {
  redco::optimizer::adafactor const rule{.clip_threshold = 0.7, .weight_decay = 0.1};
  redco::optimizer::adafactor const with_momentum{
      .lr = 0.03, .relative_step = false, .scale_parameter = false, .beta1 = 0.8, .decay_rate = -0.6};
  for (int const ranks : {1, 2, 4})
    for (std::array<int, 3> const dims :
         {std::array{0, 1, 2}, std::array{1, 0, 1}, std::array{-1, 0, 0}, std::array{1, -1, -1}}) {
      CHECK_NOTHROW(check_adafactor("adafactor", rule, {.tp = ranks}, dims, dims[0] == 0));
      CHECK_NOTHROW(check_adafactor("adafactor_momentum", with_momentum, {.tp = ranks}, dims, dims[0] != 0));
    }
  CHECK_THROWS(check_adafactor("adafactor", with_momentum, {}, {0, 1, 2}, false));
}

TEST_CASE("Adafactor counts equal parts of neighbouring ranks once") {
  redco::mesh const mesh{.tp = 4};
  // With clipping, wrong sums of this update cancel.
  redco::optimizer::adafactor const rule{.clip_threshold = 5};
  auto const updated = [&](redco::mesh const& on, redco::shape::remainder rest) {
    at::Tensor result;
    redco::comm::run_ranks(on, {.threads = 1}, [&](redco::rank_context& rank) {
      redco::shard::entry e = matrix_entry({6, 2}, -1, on);
      e.fact.split(redco::shape::axis::tp, 0, 2, rest);
      redco::update::matrix const m{0, e, rank.rank};
      at::Tensor const param = m.own(first_values(12).view({6, 2})).clone().flatten();
      redco::update::segment s = redco::update::make_segment(rule, param, param.cos(), true, {}, {m});
      redco::update::update(rule, s, 0.1, 1, 1, &rank);
      at::Tensor const whole = m.gathered(m.part(s.param), &rank);
      if (rank.rank == 0) result = whole.clone();
    });
    return result;
  };
  auto const shared = redco::shape::remainder::shared;
  CHECK(largest_difference(updated(mesh, shared), updated({}, shared)) < 1e-15);
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
