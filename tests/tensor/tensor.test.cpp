#include "torch_catch.hpp"

#include <redco/comm/collectives.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

// Tests sums of layouts on three ranks, and that a gradient reaches each operand in its own layout.

namespace {

using redco::tensor;
using redco::shape::partial;
using redco::shape::replicated;
using redco::shape::split;

void expect(bool holds, std::string const& law) {
  if (!holds) throw std::runtime_error("does not hold: " + law);
}

at::Tensor numbers(double first) { return at::arange(6, at::kDouble).view({2, 3}) * 0.7 + first; }

template <class F>
void on_three_ranks(F&& f) {
  redco::comm::run_ranks({.dp = 1, .tp = 3}, {}, std::forward<F>(f));
}

}  // namespace

TEST_CASE("a replicated value added to a pending sum is added once") {
  on_three_ranks([](redco::rank_context& rank) {
    at::Tensor const own = numbers(rank.rank).requires_grad_(), whole = numbers(10).requires_grad_();
    tensor<partial> const pending(own), other(own * 2, {numbers(-4)});
    at::Tensor const expected = (numbers(0) + numbers(1) + numbers(2)).detach();

    at::Tensor const y = redco::comm::reduce(pending + tensor<replicated>(whole), rank.tp).local();
    expect(at::allclose(y, expected + whole), "partial + replicated");
    expect(at::allclose(redco::comm::reduce(tensor<replicated>(whole) + pending, rank.tp).local(), y),
           "replicated + partial");
    at::Tensor const difference = redco::comm::reduce(pending - tensor<replicated>(whole), rank.tp).local();
    expect(at::allclose(difference, expected - whole), "partial - replicated");
    at::Tensor const both = redco::comm::reduce((pending + other) * 3, rank.tp).local();
    expect(at::allclose(both, (expected * 3 + numbers(-4)) * 3), "(partial + partial) * number");

    auto const gradients = torch::autograd::grad({(y * numbers(1)).sum()}, {own, whole});
    expect(gradients[0].equal(numbers(1)) && gradients[1].equal(numbers(1)), "each operand's gradient is the sum's");
  });
}

TEST_CASE("activations of one layout add and multiply locally") {
  on_three_ranks([](redco::rank_context& rank) {
    tensor<split<-1>> const a = redco::comm::scatter<-1>(tensor<replicated>(numbers(2)), rank.tp);
    tensor<split<-1>> const b = redco::comm::scatter<-1>(tensor<replicated>(numbers(-5)), rank.tp);
    expect(a.local().size(1) == 1, "a part is one column");
    expect(at::allclose(redco::comm::gather(a + b, rank.tp).local(), numbers(2) + numbers(-5)), "split + split");
    expect(at::allclose(redco::comm::gather(a * b, rank.tp).local(), numbers(2) * numbers(-5)), "split * split");
    tensor<replicated> const whole(numbers(3));
    at::Tensor const ordinary = whole + whole * 2;
    expect(at::allclose(ordinary, numbers(3) * 3), "a replicated sum is an ordinary tensor");
  });
}

TEST_CASE("sums and products of split tokens keep the number of tokens and refuse another one") {
  using tokens = tensor<redco::shape::token_split>;
  // The number of tokens must be given
  static_assert(!std::is_constructible_v<tokens, at::Tensor>);
  tokens const a(numbers(0), 5), b(numbers(1), 5), c(numbers(2), 6);
  CHECK((a + b).tokens() == 5);
  CHECK((a * b).tokens() == 5);
  CHECK((a * 2.0).tokens() == 5);
  CHECK((a - b).tokens() == 5);
  CHECK((a - b).local().equal(numbers(0) - numbers(1)));
  CHECK_THROWS_WITH(a + c,
                    "split activations of 5 and 6 tokens are combined; gather one of them, or make both of one input");
  CHECK_THROWS_AS(a * c, redco::error);
  CHECK_THROWS_AS(a - c, redco::error);
}
