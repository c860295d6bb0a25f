#include "comm/on_ranks.hpp"

#include <redco/comm/collectives.hpp>

#include <cmath>
#include <vector>

namespace {

using comm_test::must;
using comm_test::values;

/// The meaning of the ranks' values of one tensor. `shared`: all ranks hold the same value, which
/// counts once. `own`: each rank has another value, and the scalars of all ranks are summed.
enum class side { shared, own };

/// A conversion between layouts with the side of its argument and of its result. All ranks have the
/// same gradient of a partial value, but may compute it differently. Therefore a partial argument
/// is `own` at all orders.
struct conversion {
  char const* name;
  side in;
  side out;
  at::Tensor (*apply)(at::Tensor const&, redco::comm::group&);
};

at::Tensor enter_map(at::Tensor const& x, redco::comm::group& ranks) {
  return redco::comm::enter(redco::tensor<redco::shape::replicated>(x), ranks).local();
}
at::Tensor reduce_map(at::Tensor const& x, redco::comm::group& ranks) {
  return redco::comm::reduce(redco::tensor<redco::shape::partial>(x), ranks);
}
template <int Dim>
at::Tensor gather_map(at::Tensor const& x, redco::comm::group& ranks) {
  return redco::comm::gather(redco::tensor<redco::shape::split<Dim>>(x), ranks);
}
template <int Dim>
at::Tensor scatter_map(at::Tensor const& x, redco::comm::group& ranks) {
  return redco::comm::scatter<Dim>(x, ranks).local();
}
template <int Dim>
at::Tensor all_gather_entered_map(at::Tensor const& x, redco::comm::group& ranks) {
  return redco::comm::all_gather_entered(redco::tensor<redco::shape::split<Dim>>(x), ranks).local();
}
template <int Dim>
at::Tensor reduce_scatter_map(at::Tensor const& x, redco::comm::group& ranks) {
  return redco::comm::reduce_scatter<Dim>(redco::tensor<redco::shape::partial>(x), ranks).local();
}

std::vector<conversion> const conversions{
    {"enter", side::shared, side::own, enter_map},
    {"reduce", side::own, side::shared, reduce_map},
    {"gather", side::own, side::shared, gather_map<-1>},
    {"gather rows", side::own, side::shared, gather_map<0>},
    {"scatter", side::shared, side::own, scatter_map<-1>},
    {"scatter rows", side::shared, side::own, scatter_map<0>},
    {"all_gather_entered", side::own, side::own, all_gather_entered_map<0>},
    {"reduce_scatter", side::own, side::own, reduce_scatter_map<1>},
};

at::Tensor total(at::Tensor const& scalar, side of, redco::comm::group& ranks) {
  return of == side::shared ? scalar.detach() : ranks.all_reduced(scalar.detach());
}
at::Tensor weights(at::Tensor const& like, side of, redco::comm::group& ranks) {
  return values(like.sizes(), at::kDouble, of == side::shared ? 20 : 20 + ranks.rank()) / 10;
}

/// The loss sum(w (y + y^3)) and its gradient g by autograd, then the scalar sum(v g^2) and its
/// gradient.
struct derivatives {
  at::Tensor loss, gradient, second_loss, second_gradient;
};
derivatives derive(conversion const& map, at::Tensor const& at_x, redco::comm::group& ranks) {
  at::Tensor const x = at_x.detach().clone().requires_grad_(true);
  at::Tensor const y = map.apply(x, ranks);
  at::Tensor const loss = (weights(y, map.out, ranks) * (y + y * y * y)).sum();
  at::Tensor const g = torch::autograd::grad({loss}, {x}, {}, true, true)[0];
  at::Tensor const second = (weights(g, map.in, ranks) * g * g).sum();
  at::Tensor const h = torch::autograd::grad({second}, {x})[0];
  return {total(loss, map.out, ranks), g.detach(), total(second, map.in, ranks), h};
}

TEST_CASE("first and second derivatives of every conversion agree with central differences") {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    comm_test::on_ranks(ranks, [&](redco::rank_context& me) {
      for (conversion const& map : conversions) {
        int const seed = map.in == side::shared ? 0 : me.rank;
        at::Tensor const x = values({ranks, ranks}, at::kDouble, seed) / 50;
        derivatives const here = derive(map, x, me.world);
        double const step = 1e-5;
        for (int owner = 0; owner < (map.in == side::shared ? 1 : ranks); ++owner) {
          // In every row and column
          for (std::int64_t at = owner; at < x.numel(); at += ranks + 1) {
            at::Tensor up = x.clone(), down = x.clone();
            if (map.in == side::shared || owner == me.rank) {
              up.view(-1)[at] += step;
              down.view(-1)[at] -= step;
            }
            derivatives const above = derive(map, up, me.world), below = derive(map, down, me.world);
            if (map.in == side::own && owner != me.rank) continue;
            auto const compare = [&](at::Tensor const& more, at::Tensor const& less, at::Tensor const& right) {
              double const found = ((more - less) / (2 * step)).item<double>();
              double const wanted = right.view(-1)[at].item<double>();
              must(std::abs(found - wanted) <= 1e-6 * (1 + std::abs(wanted)),
                   std::string(map.name) + " on " + std::to_string(ranks) + " ranks gives " + std::to_string(wanted) +
                       ", differences give " + std::to_string(found));
            };
            compare(above.loss, below.loss, here.gradient);
            compare(above.second_loss, below.second_loss, here.second_gradient);
          }
        }
      }
    });
  }
}

TEST_CASE("every conversion gives the values of its definition") {
  comm_test::on_ranks(3, [](redco::rank_context& me) {
    at::Tensor const whole = values({6, 9}, at::kFloat, 0);
    auto const at = static_cast<std::size_t>(me.rank);
    must(enter_map(whole, me.world).is_same(whole), "enter is the identity");
    must(at::equal(scatter_map<1>(whole, me.world), whole.chunk(3, 1)[at]), "scatter keeps a part");
    must(at::equal(gather_map<-1>(whole.chunk(3, 1)[at], me.world), whole), "gather joins parts");
    must(at::equal(all_gather_entered_map<0>(whole.chunk(3, 0)[at], me.world), whole), "all_gather_entered");
    at::Tensor const mine = values({6, 9}, at::kFloat, me.rank);
    at::Tensor const sum = reduce_map(mine, me.world);
    must(at::equal(reduce_scatter_map<0>(mine, me.world), sum.chunk(3, 0)[at]), "reduce_scatter keeps a part");
  });
}

TEST_CASE("addends are added once and have the gradients of one rank") {
  comm_test::on_ranks(3, [](redco::rank_context& me) {
    at::Tensor const bias = values({4}, at::kDouble, 9).requires_grad_(true);
    at::Tensor const branch = values({6, 4}, at::kDouble, 8).requires_grad_(true);
    at::Tensor const part = values({6, 4}, at::kDouble, me.rank).requires_grad_(true);
    at::Tensor const factor = values({6, 4}, at::kDouble, 7);
    redco::tensor<redco::shape::partial> const pending(part, {bias, branch});
    at::Tensor sum = bias.detach() + branch.detach();
    for (int rank = 0; rank < 3; ++rank) sum = sum + values({6, 4}, at::kDouble, rank);

    at::Tensor const y = redco::comm::reduce(pending, me.world);
    must(at::allclose(y, sum, 1e-14, 1e-14), "reduce");
    (y * factor).sum().backward();
    must(at::allclose(bias.grad(), factor.sum(0)) && at::allclose(branch.grad(), factor), "gradients after reduce");
    must(at::allclose(part.grad(), factor), "the gradient of the pending part");

    for (at::Tensor const& leaf : {bias, branch, part}) leaf.mutable_grad() = at::Tensor();
    at::Tensor const rows = redco::comm::reduce_scatter<0>(pending, me.world).local();
    auto const at = static_cast<std::size_t>(me.rank);
    must(at::allclose(rows, sum.chunk(3, 0)[at], 1e-14, 1e-14), "reduce_scatter");
    (rows * factor.chunk(3, 0)[at]).sum().backward();
    must(at::allclose(bias.grad(), factor.sum(0)), "the gradient of a bias, over all parts");
    must(at::allclose(branch.grad(), factor) && at::allclose(part.grad(), factor), "gradients after reduce_scatter");
  });
}

TEST_CASE("no autograd node is created without a required gradient, and a group of one rank is the identity") {
  comm_test::on_ranks(2, [](redco::rank_context& me) {
    at::Tensor const x = values({2, 2}, at::kFloat, me.rank).requires_grad_(true);
    at::Tensor const plain = values({2, 2}, at::kFloat, me.rank);
    for (conversion const& map : conversions) {
      at::NoGradGuard const no_grad;
      must(!map.apply(x, me.world).grad_fn(), std::string(map.name) + " without grad mode");
    }
    for (conversion const& map : conversions) {
      must(!map.apply(plain, me.world).grad_fn(), std::string(map.name) + " of a constant");
      must(map.apply(x, me.world).grad_fn() != nullptr, std::string(map.name) + " of a variable");
      must(map.apply(x, me.tp).is_same(x), std::string(map.name) + " in a group of one");
    }
  });
}

TEST_CASE("the gradient of a collective is one call of its dual") {
  comm_test::on_ranks(2, [](redco::rank_context& me) {
    using redco::shape::collective;
    at::Tensor const x = values({4, 2}, at::kFloat, me.rank).requires_grad_(true);
    auto const calls = [&](at::Tensor (*apply)(at::Tensor const&, redco::comm::group&), collective kind) {
      at::Tensor const y = apply(x, me.world);
      me.world.reset_counters();
      y.sum().backward();
      redco::shape::traffic const& counted = me.world.counters();
      return counted.total() == counted[kind] ? counted[kind].calls : -1;
    };
    must(calls(enter_map, collective::all_reduce) == 1, "enter");
    must(calls(reduce_map, collective::all_reduce) == 0, "reduce");
    must(calls(scatter_map<0>, collective::all_gather) == 1, "scatter");
    must(calls(gather_map<0>, collective::all_gather) == 0, "gather");
    must(calls(all_gather_entered_map<0>, collective::reduce_scatter) == 1, "all_gather_entered");
    must(calls(reduce_scatter_map<0>, collective::all_gather) == 1, "reduce_scatter");
  });
}

}  // namespace
