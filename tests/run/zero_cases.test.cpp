#include "mlp.hpp"
#include "shares.hpp"

#include <redco/nn/opaque.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/opaque.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Compares runs whose replicas keep shares of the training state (ZeRO) with runs without, for
// models, data and options at the edges.

namespace zero_cases_test {

using namespace redco;
using run_test::in;
using run_test::mlp_pipeline;
using shares_test::check_equal;
using shares_test::check_same_bits;
using shares_test::levels;
using shares_test::outcome;
using shares_test::trained;
using stage_test::language;
using stage_test::name_of;
using stage_test::tied;

deployer_options on_mesh(mesh const& on, int level = 0) {
  deployer_options where = in({}, on);
  where.gradient_bucket = 0.25 / 1024;
  where.zero = level;
  where.deadline = 60;
  return where;
}

constexpr adamw clipped{.lr = 1e-2, .clip_norm = 0.5};

/// A user's callable with parameters of zero, one, three and five elements. It leaves out the last
/// one if the first feature of its first example is not positive.
struct odd_sizes {
  static constexpr std::array parameters{layers::parameter_shape{"none", {0, 3}}, layers::parameter_shape{"scalar", {}},
                                         layers::parameter_shape{"one", {1}}, layers::parameter_shape{"three", {3}},
                                         layers::parameter_shape{"branch", {5}}};

  /// Numbers of calls that used the last parameter, and of those that did not
  inline static std::atomic<int> used = 0, skipped = 0;

  at::Tensor operator()(at::Tensor const& x, std::span<at::Tensor const> p) const {
    at::Tensor const y = x * (1 + p[1]) + at::cat({p[3], p[2], p[2]}) + p[0].sum();
    bool const uses = x.size(0) > 0 && x[0][0].item<double>() > 0;
    ++(uses ? used : skipped);
    return uses ? y * at::exp(p[4]) : y;
  }
};

/// 35 + 21 elements with weight decay and 20 without, which 3 and 4 replicas do not divide
using odd =
    model_of<sequential<named<"odd", opaque<odd_sizes>>, named<"up", linear<5, 7>>, relu, named<"down", linear<7, 3>>>>;

TEST_CASE("parameters of zero, one and indivisible numbers of elements have shares, frozen or not") {
  for (std::vector<std::string> const& frozen :
       std::vector<std::vector<std::string>>{{}, {"odd.*"}, {"up.*", "odd.one", "odd.none"}})
    for (int const replicas : {2, 3, 4, 5}) {
      auto const change = [&](auto& o) { o.frozen = frozen, o.micro_batch = 1; };
      auto const run = [&](int level) {
        return trained(odd{}, mlp_pipeline(), on_mesh({.dp = replicas}, level), clipped, change);
      };
      outcome const whole = run(0);
      CHECK(whole.state.at("odd.none").sizes().equals({0, 3}));
      for (int const level : levels) {
        INFO(replicas << " replicas, " << frozen.size() << " patterns, level " << level);
        check_equal(whole, run(level));
      }
    }
}

/// Three blocks, each with parameters of odd sizes, of which some calls skip one
using odd_blocks =
    model_of<sequential<named<"h", repeat<3, residual<opaque<odd_sizes>>>>, named<"down", linear<5, 3>>>>;

/// Compares runs with shares of a model, of whose odd_sizes layers some calls skip a parameter.
/// `check_whole` checks each run without shares.
void check_skipped(auto const& model, auto const& check_whole) {
  odd_sizes::used = odd_sizes::skipped = 0;
  for (int const replicas : {2, 3})
    for (std::int64_t const micro_batch : {0, 1})
      for (bool const overlap : {false, true}) {
        auto const run = [&](int level) {
          deployer_options where = on_mesh({.dp = replicas}, level);
          where.gradient_bucket = 16.0 / (1 << 20);
          where.overlap = overlap;
          return trained(model, mlp_pipeline(), where, clipped, [&](auto& o) { o.micro_batch = micro_batch; });
        };
        outcome const whole = run(0);
        check_whole(whole);
        for (int const level : levels) {
          INFO(replicas << " replicas, micro-batches of " << micro_batch << ", level " << level);
          check_equal(whole, run(level));
        }
      }
  CHECK(odd_sizes::used > 0);
  CHECK(odd_sizes::skipped > 0);
}

TEST_CASE("blocks of which some replicas skip a parameter are gathered and summed by all in one order") {
  check_skipped(odd_blocks{}, [](outcome const& whole) { CHECK(whole.state.at("h.2.none").sizes().equals({0, 3})); });
}

TEST_CASE("one group of all replicas shares as a run without groups, and groups of one replica are refused") {
  for (int const level : {1, 3}) {
    INFO("level " << level);
    auto const run = [&](char const* within) {
      deployer_options where = on_mesh({.dp = 4}, level);
      where.zero_within = within;
      return trained(tied, language(), where, clipped, [](auto&) {});
    };
    outcome const all = run("run"), one_group = run("4"), groups_of_one = run("1");
    check_same_bits(all, one_group);
    CHECK(groups_of_one.code == 64);
    CHECK(groups_of_one.reason.starts_with("--zero-within 1: the 4 replicas"));
  }
}

TEST_CASE("f32 master parameters of bf16 values have shares of odd sizes with the bits of a whole run") {
  for (int const replicas : {2, 3, 5}) {
    auto const run = [&](int level) {
      deployer_options where = on_mesh({.dp = replicas}, level);
      where.dtype = dtype::bf16;
      return trained(odd{}, mlp_pipeline(), where, adamw{.lr = 1e-2}, [](auto&) {});
    };
    outcome const whole = run(0);
    CHECK(whole.state.at("master.odd.three").scalar_type() == at::kFloat);
    for (int const level : levels) {
      INFO(replicas << " replicas, level " << level);
      check_same_bits(whole, run(level));
    }
  }
}

TEST_CASE("a layer that some replicas skip gets the mean of the gradients of the others") {
  check_skipped(odd{}, [](outcome const&) {});
}

TEST_CASE("replicas without an example take part in the sums of gradients") {
  // The last step of an epoch has one or three examples.
  for (std::int64_t const batch : {4, 5, 6})
    for (std::int64_t const micro_batch : {0, 1}) {
      auto const run = [&](int level) {
        return trained(odd{}, mlp_pipeline(), on_mesh({.dp = 4}, level), clipped, [&](auto& o) {
          o.global_batch = batch;
          o.micro_batch = micro_batch;
        });
      };
      outcome const whole = run(0);
      for (int const level : levels) {
        INFO("batches of " << batch << ", micro-batches of " << micro_batch << ", level " << level);
        check_equal(whole, run(level));
      }
    }
}

TEST_CASE("one replica runs with every level, shares nothing out and says so") {
  for (mesh const& on : {mesh{.dp = 1}, {.dp = 1, .tp = 2}}) {
    auto const run = [&](int level) { return trained(tied, language(), on_mesh(on, level), clipped, [](auto&) {}); };
    outcome const whole = run(0);
    for (int const level : levels) {
      INFO(name_of(on) << ", level " << level);
      outcome const shares = run(level);
      check_same_bits(whole, shares);
      CHECK(shares.log.find("zero " + std::to_string(level) +
                            ": nothing is shared out, because there is one replica") != std::string::npos);
    }
  }
}

TEST_CASE("one and four micro-batches per step give equal steps") {
  auto const run = [&](int level, std::int64_t micro_batch) {
    return trained(tied, language(), on_mesh({.dp = 2}, level), clipped, [&](auto& o) {
      o.global_batch = 8;
      o.micro_batch = micro_batch;
    });
  };
  outcome const whole = run(0, 4);
  for (int const level : levels)
    for (std::int64_t const micro_batch : {4, 1}) {
      INFO("micro-batches of " << micro_batch << ", level " << level);
      check_equal(whole, run(level, micro_batch));
    }
}

TEST_CASE("tied parameters on two and four pipeline stages train as on one rank") {
  auto const run = [](mesh const& on, int level) {
    return trained(tied, language(), on_mesh(on, level), clipped, [](auto& o) { o.micro_batch = 1; });
  };
  outcome const one = run({.dp = 1}, 0);
  for (int const stages : {2, 4}) {
    INFO(stages << " stages");
    check_equal(one, run({.pp = stages, .dp = 2}, 0));
    for (int const level : levels) {
      INFO("level " << level);
      check_equal(one, run({.pp = stages, .dp = 2}, level));
    }
  }
}

TEST_CASE("models whose tokens are split over the shards train as on one rank") {
  models::sequence_parallel<gpt2> const split{tied.config};
  auto const change = [](auto& o) { o.micro_batch = 1; };
  outcome const one = trained(tied, language(), on_mesh({.dp = 1}), clipped, change);
  for (mesh const& on : {mesh{.dp = 2, .tp = 2}, {.dp = 3, .tp = 2}})
    for (int const level : levels) {
      INFO(name_of(on) << ", level " << level);
      check_equal(one, trained(split, language(), on_mesh(on, level), clipped, change));
    }
}

TEST_CASE("groups of an optimizer keep their rates and decays over save and load on another mesh and level") {
  optimizer::grouped const rule(adamw{.lr = 1e-2, .weight_decay = 0.1},
                                {{.pattern = "h.1.*", .rate = 0.1}, {.pattern = "*.bias", .weight_decay = 0.4}}, 0.8);
  outcome const whole = trained(tied, language(), on_mesh({.dp = 1}), rule, [](auto& o) { o.max_steps = 4; });
  struct layout {
    mesh on;
    int level;
  };
  std::vector<layout> layouts{{{.dp = 1}, 0}};
  for (int const level : levels) layouts.push_back({level == 2 ? mesh{.dp = 3} : mesh{.dp = 2, .tp = 2}, level});
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    layout const& saving = layouts[i];
    temporary_folder const folder;
    auto const run = [&](layout const& at, std::int64_t steps) {
      deployer_options where = on_mesh(at.on, at.level);
      where.workdir = folder.path;
      where.resume = steps > 2 ? "auto" : "none";
      return trained(tied, language(), where, rule, [&](auto& o) {
        o.max_steps = steps;
        o.save_last = steps == 2;
      });
    };
    outcome const first = run(saving, 2);
    for (std::size_t const next : {1U, 2U}) {
      layout const& loading = layouts[(i + next) % layouts.size()];
      INFO(name_of(saving.on) << " level " << saving.level << ", then " << name_of(loading.on) << " level "
                              << loading.level << first.reason);
      outcome rest = run(loading, 4);
      CHECK(rest.losses.size() == 2);
      rest.losses.insert(rest.losses.begin(), first.losses.begin(), first.losses.end());
      rest.norms.insert(rest.norms.begin(), first.norms.begin(), first.norms.end());
      check_equal(whole, rest, 4);
    }
  }
}

/// Settings of the optimizer that clips by the largest element.
template <class Rule>
Rule by_largest(Rule rule, double limit) {
  rule.clip_norm = limit;
  rule.clip_kind = optimizer::norm_kind::inf;
  return rule;
}

TEST_CASE("the inf-norm of a step is its largest gradient, to which clipping scales the update") {
  auto const run = [](mesh const& on, int level, std::int64_t steps, double limit) {
    return trained(tied, language(), on_mesh(on, level), by_largest(sgd{.lr = 1}, limit), [&](auto& o) {
      o.max_steps = steps;
      o.epochs = steps > 0 ? 1 : 0;
    });
  };
  for (mesh const& on : {mesh{.dp = 1}, {.dp = 3}, {.dp = 2, .tp = 2}, {.pp = 2, .dp = 2}}) {
    run_test::tensors const before = run(on, 0, 0, 0).state;
    std::vector<int> all{0};
    all.insert(all.end(), levels.begin(), levels.end());
    for (int const level : all) {
      INFO(name_of(on) << ", level " << level);
      double norm = 0;
      for (double const limit : {0.0, 0.01}) {
        outcome const after = run(on, level, 1, limit);
        INFO(after.reason);
        REQUIRE(after.norms.size() == 1);
        if (limit == 0) norm = after.norms[0];
        CHECK(after.norms[0] == norm);
        double moved = 0;
        for (auto const& [name, start] : before)
          moved = std::max(moved, (after.state.at(name) - start).abs().max().item<double>());
        CHECK(norm > 0.02);
        CHECK(moved == Approx(limit == 0 ? norm : norm * limit / (norm + 1e-6)).epsilon(1e-11));
      }
    }
  }
}

TEST_CASE("runs that are clipped by their largest gradient have the bits of a run without shares") {
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}}) {
      auto const run = [&](int level) {
        deployer_options where = on_mesh(on, level);
        where.dtype = type;
        return trained(tied, language(), where, by_largest(adamw{.lr = 2e-3}, 0.02), [](auto&) {});
      };
      outcome const whole = run(0);
      CHECK(*std::min_element(whole.norms.begin(), whole.norms.end()) > 0.02);
      for (int const level : levels) {
        INFO(name_of(on) << " " << redco::name_of(type) << ", level " << level);
        outcome const shares = run(level);
        check_same_bits(whole, shares);
        CHECK(whole.norms == shares.norms);
      }
    }
}

}  // namespace zero_cases_test
