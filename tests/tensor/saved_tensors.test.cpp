#include "torch_catch.hpp"

#include <redco/tensor/saved_tensors.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace {

using redco::tensors::saved_chain;

/// A link that saves factor x + shift in memory of its own, in place of x.
struct scaling final : redco::tensors::saved_link {
  double factor, shift;
  std::shared_ptr<int> alive = std::make_shared<int>();  ///< owned by each unpack too
  std::int64_t seen = 0;

  scaling(double f, double s) : factor(f), shift(s) {}
  packed pack(at::Tensor const& x) override {
    ++seen;
    return {x * factor + shift, [f = factor, s = shift, alive = alive](at::Tensor const& far) {
              CHECK(!at::GradMode::is_enabled());
              return (far - s) / f;
            }};
  }
};

at::Tensor leaf() { return at::arange(1, 5, at::kDouble).requires_grad_(true); }

at::Tensor gradient_of(at::Tensor const& y, at::Tensor const& x, bool again = false) {
  return torch::autograd::grad({y}, {x}, {}, again, again)[0];
}

}  // namespace

TEST_CASE("links pack in the order in which they joined, and unpack in the reverse one") {
  at::Tensor const x = leaf();
  at::Tensor y;
  {
    scaling twice(2, 0), one_more(1, 1);
    saved_chain::scope const first(twice, saved_chain::role::moves), second(one_more, saved_chain::role::moves);
    y = (x * x).sum();
    CHECK(twice.seen == 2);
    CHECK(one_more.seen == 2);
  }  // backward runs after the links are destroyed
  CHECK(gradient_of(y, x).equal(2 * x.detach()));
}

TEST_CASE("a chain gives derivatives of any order, and the graph owns the data that its links keep") {
  at::Tensor const x = leaf();
  std::weak_ptr<int> kept;
  {
    scaling tier(4, 3);
    kept = tier.alive;
    saved_chain::scope const here(tier, saved_chain::role::moves);
    at::Tensor const first = gradient_of((x * x * x).sum(), x, true);
    CHECK(first.detach().equal(3 * (x * x).detach()));
    CHECK(gradient_of(first.sum(), x, true).detach().equal(6 * x.detach()));
  }
  CHECK(kept.expired());
}

TEST_CASE("a watch sees tensors that layers save, whether it joins before or after a link that moves them") {
  for (bool const watch_first : {false, true}) {
    INFO("watch first: " << watch_first);
    at::Tensor const x = leaf();
    scaling tier(2, 1);
    std::optional<redco::tensors::saved_watch> watch;
    if (watch_first) watch.emplace();
    saved_chain::scope const here(tier, saved_chain::role::moves);
    if (!watch_first) watch.emplace();
    at::Tensor const y = (x * x).sum();
    CHECK(watch->entries().size() == 1);
    CHECK(watch->entries()[0].shares_storage(x));
    CHECK(tier.seen == 2);
    watch.reset();  // the other link stays, whether joined last or not
    at::Tensor const z = (x * x).sum();
    CHECK(tier.seen == 4);
    CHECK(gradient_of(y + z, x).equal(4 * x.detach()));
  }
}

TEST_CASE("saved tensors are not intercepted without a link") {
  at::Tensor const x = leaf();
  scaling tier(2, 0);
  { saved_chain::scope const here(tier, saved_chain::role::moves); }
  CHECK(gradient_of((x * x).sum(), x).equal(2 * x.detach()));
  CHECK(tier.seen == 0);
}
