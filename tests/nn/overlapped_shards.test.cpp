#include "comm/values.hpp"
#include "nn/sharded.hpp"

#include <redco/nn/detail/sharded_linear.hpp>
#include <redco/nn/pending_sum.hpp>
#include <redco/kernel/cpu/small_product.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/lane.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/model/model.hpp>
#include <redco/adapt/low_rank.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <functional>
#include <string>
#include <vector>

// Exchanges between shards that overlap their products in runs of rows: numbers, calls and bytes.

namespace overlapped_shards_test {

using namespace redco;
using comm_test::must;
using sharded::check_module;
using sharded::tensor_map;
using sharded::values_of;

/// Returns 5 examples of `tokens` rows. 150 rows give several runs of rows and of examples, the
/// last one shorter. 30 tokens divide by 2 and 3, 29 do not.
at::Tensor some_x(std::int64_t tokens = 30) { return values_of("x", std::vector<std::int64_t>{5, tokens, 6}); }

constexpr lora_options adapters{.rank = 2, .alpha = 3, .targets = "q,v,o,up,down"};

at::Tensor apply(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  at::Tensor const y = at::linear(x, p.at(name + ".weight"), p.at(name + ".bias"));
  auto const half = p.find(name + ".lora_A.weight");
  if (half == p.end()) return y;
  return y + at::linear(at::linear(x, half->second) * 1.5, p.at(name + ".lora_B.weight"));
}
at::Tensor normed(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  return at::layer_norm(x, {6}, p.at(name + ".weight"), p.at(name + ".bias"), 1e-5);
}
at::Tensor attended(tensor_map const& p, std::string const& at, at::Tensor const& x) {
  auto const by_head = [&](char const* name) { return apply(p, at + name, x).unflatten(2, {6, 1}).transpose(1, 2); };
  at::Tensor const scores = at::matmul(by_head("q"), by_head("k").transpose(2, 3));
  at::Tensor const seen = scores.masked_fill(at::ones_like(scores, at::kBool).tril().logical_not(), -1e300);
  return apply(p, at + "o", at::matmul(seen.softmax(-1), by_head("v")).transpose(1, 2).flatten(2));
}

using attention_branch = residual<sequential<named<"n", layer_norm<6>>, causal_attention<6, 6>>>;
using feed_forward = residual<sequential<named<"m", layer_norm<6>>, named<"up", linear<6, 18>>, gelu,
                                         named<"down", linear<18, 6>>, dropout<redco::layers::real{0.0}>>>;
using blocks = named<"h", repeat<2, sequential<attention_branch, feed_forward>>>;

at::Tensor plain_blocks(tensor_map const& p, at::Tensor x) {
  for (std::string const at : {"h.0.", "h.1."}) {
    x = x + attended(p, at, normed(p, at + "n", x));
    x = x + apply(p, at + "down", at::gelu(apply(p, at + "up", normed(p, at + "m", x)), "tanh"));
  }
  return x;
}

TEST_CASE("blocks that overlap messages with products equal plain blocks up to second derivatives") {
  for (bool const recompute : {false, true})
    check_module<model_of<blocks, input<30, 6>>>(some_x(), plain_blocks, {2, 3}, sharded::call{},
                                                 {.recompute = recompute, .overlap = true});
}

TEST_CASE("blocks with overlapped messages and split tokens equal plain blocks, split evenly or not") {
  using net = sequential<named<"in", linear<6, 6>>, redco::layers::split_tokens, blocks, named<"n", layer_norm<6>>>;
  for (std::int64_t const tokens : {30, 29})
    check_module<model_of<net, input<30, 6>>>(
        some_x(tokens),
        [](tensor_map const& p, at::Tensor const& x) { return normed(p, "n", plain_blocks(p, apply(p, "in", x))); },
        {2, 3}, sharded::call{}, {.recompute = tokens == 29, .overlap = true});
}

TEST_CASE("blocks with overlapped messages and adapters equal plain blocks") {
  using split = sequential<redco::layers::split_tokens, blocks>;
  check_module<model_of<redco::adapt::low_rank_adapted<adapters, blocks>, input<30, 6>>>(
      some_x(), plain_blocks, {2, 3}, sharded::call{}, {.overlap = true});
  check_module<model_of<redco::adapt::low_rank_adapted<adapters, split>, input<30, 6>>>(
      some_x(), plain_blocks, {2, 3}, sharded::call{}, {.overlap = true});
}

TEST_CASE("adapters drop equal elements with and without overlapped messages") {
  constexpr lora_options dropping{.rank = 2, .alpha = 3, .dropout = 0.3, .targets = "q,v,o,up,down"};
  for (bool const recompute : {false, true}) {
    auto const make = sharded::maker_of<model_of<redco::adapt::low_rank_adapted<dropping, blocks>, input<30, 6>>>();
    auto const on = [&](int width, bool overlap) {
      return sharded::on_width(make, width, some_x(), {.training = true, .recompute = recompute, .overlap = overlap});
    };
    CHECK_NOTHROW(sharded::check_equal(on(3, true), on(1, false)));
  }
}

at::Tensor numbers(at::IntArrayRef sizes, at::ScalarType type, double seed) {
  at::Tensor const n = at::arange(c10::multiply_integers(sizes), at::kDouble) * 0.7310585 + seed;
  return (n.sin() * 0.5).view(sizes).to(type);
}

/// A result on these shards with the gradients of its inputs, and the messages that they needed.
struct outcome {
  std::vector<at::Tensor> all;
  redco::shape::traffic sent;
};
using maker = std::function<at::Tensor(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias)>;

outcome made(rank_context& me, at::Tensor const& x, at::ScalarType type, std::int64_t out, bool frozen,
             maker const& make) {
  at::Tensor const weight = numbers({out, x.size(-1)}, type, 0.2 + me.rank).requires_grad_(!frozen);
  at::Tensor const bias = numbers({out}, type, 0.3).requires_grad_();
  me.tp.reset_counters();
  at::Tensor const y = make(x, weight, bias);
  std::vector<at::Tensor> wanted{x, bias};
  if (!frozen) wanted.push_back(weight);
  outcome result{torch::autograd::grad({y.square().sum()}, wanted), {}};
  result.all.push_back(y.detach());
  result.sent = me.tp.counters();
  if (type != at::kDouble) return result;
  at::Tensor number = at::zeros({}, type);
  for (at::Tensor const& one : torch::autograd::grad({make(x, weight, bias).pow(3).sum()}, wanted, {}, true, true))
    number = number + one.square().sum();
  for (at::Tensor const& one : torch::autograd::grad({number}, wanted)) result.all.push_back(one / number.detach());
  return result;
}

void check_same(outcome const& found, outcome const& expected, at::ScalarType type) {
  double const tolerance = type == at::kDouble ? 1e-14 : type == at::kFloat ? 1e-6 : 1e-2;
  for (std::size_t i = 0; i < expected.all.size(); ++i)
    must(at::allclose(found.all[i], expected.all[i], tolerance, tolerance), "tensor " + std::to_string(i));
  must(found.sent == expected.sent, "calls and bytes");
}

TEST_CASE("a pending product acts as a plain pending sum everywhere but in the reduction") {
  kernel::cpu::forced_small_work const none(0);  // products equal ATen's bit for bit
  at::Tensor const x = numbers({5, 8}, at::kDouble, 0.1), bias = numbers({7}, at::kDouble, 0.2);
  at::Tensor const first = numbers({7, 8}, at::kDouble, 0.3), second = numbers({7, 8}, at::kDouble, 0.4);
  at::Tensor const wanted = at::linear(x, first) + at::linear(x, second);
  auto const pending = [&] {
    return redco::nn::pending_sum(redco::nn::pending_sum::products{{x, x}, {first, second}}, {bias});
  };
  tensor<redco::shape::partial> const value = pending();
  CHECK(value.local().equal(wanted));
  CHECK(value.addends().size() == 1);
  tensor<redco::shape::partial> const twice = pending() * 2.0, more = pending() + tensor<redco::shape::replicated>(x),
                                      both = more - pending();
  CHECK(twice.local().equal(wanted * 2));
  CHECK(twice.addends()[0].equal(bias * 2));
  CHECK(more.local().equal(wanted));
  CHECK(more.addends().size() == 2);
  CHECK(both.local().equal(at::zeros_like(wanted)));
  redco::nn::pending_sum const some = pending().with_addend(bias);
  CHECK(some.pending());
  CHECK(some.local().equal(wanted));
  CHECK(!some.pending());  // the sum is computed once
  CHECK(some.value().addends().size() == 2);
}

TEST_CASE("overlapped messages count as many calls and bytes as plain ones") {
  kernel::cpu::forced_small_work const none(0);  // runs of rows are computed like the whole product
  for (int const shards : {2, 3})
    for (at::ScalarType const type : {at::kDouble, at::kFloat, at::kBFloat16})
      for (bool const frozen : {false, true})
        redco::comm::run_ranks({.tp = shards}, {}, [&](rank_context& me) {
          pass const in = redco::nn::training_pass(me, 0, 0, {.shard_lane = &me.lane(redco::shape::axis::tp)});
          in.shard_lane->min_bytes = 1;
          at::Tensor const whole = numbers({5, 30, 8}, type, 0.1 + me.rank).requires_grad_();
          at::Tensor const same = numbers({5, 30, 8}, type, 0.7).requires_grad_();
          auto const pending = [&](at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
            return redco::nn::pending_sum(redco::nn::pending_sum::products{{x}, {weight}}, {bias});
          };
          check_same(made(me, whole, type, 7, frozen,
                          [&](auto const&... all) { return redco::nn::detail::reduced(pending(all...), in).local(); }),
                     made(me, whole, type, 7, frozen,
                          [&](auto const&... all) { return reduce(pending(all...), me.tp).local(); }),
                     type);
          check_same(
              made(me, whole, type, 7, frozen,
                   [&](auto const&... all) { return redco::nn::detail::reduced_tokens(pending(all...), in).local(); }),
              made(me, whole, type, 7, frozen,
                   [&](auto const&... all) { return reduce_tokens(pending(all...), me.tp).local(); }),
              type);
          at::Tensor const own = numbers({5, 30 / shards, 8}, type, 0.4 + me.rank).requires_grad_();
          auto const check_entering = [&](auto const& as_tensor, at::Tensor const& values) {
            check_same(made(me, values, type, 7, frozen,
                            [&](at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
                              return redco::nn::detail::overlapped_product(as_tensor(x), weight, bias, me.tp,
                                                                           *in.shard_lane)
                                  .product;
                            }),
                       made(me, values, type, 7, frozen,
                            [&](at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
                              return kernel::linear(enter(as_tensor(x), me.tp).local(), weight, bias);
                            }),
                       type);
          };
          check_entering([](at::Tensor const& x) { return tensor<redco::shape::token_split>(x, 30); }, own);
          check_entering([](at::Tensor const& x) { return tensor<redco::shape::replicated>(x); }, same);
        });
}

TEST_CASE("readers of an entered input add its gradient, with the product or alone, if it is needed") {
  redco::comm::run_ranks({.tp = 2}, {}, [&](rank_context& me) {
    comm::lane& lane = me.lane(redco::shape::axis::tp);
    lane.min_bytes = 1;
    at::Tensor const weight = numbers({7, 8}, at::kDouble, 0.2 + me.rank).requires_grad_();
    at::Tensor const own = numbers({5, 15, 8}, at::kDouble, 0.4 + me.rank);
    auto const enter_with = [&](at::Tensor const& x) {
      return redco::nn::detail::overlapped_product(tensor<redco::shape::token_split>(x, 30), weight, {}, me.tp, lane);
    };
    auto const fixed = enter_with(own);
    must(!fixed.whole.requires_grad(), "an input that needs no gradient makes a tensor that needs none");
    at::Tensor const joined = me.tp.all_gather(own, 1);
    must(at::equal(fixed.whole, joined), "the gathered input");
    at::Tensor const expected = torch::autograd::grad({at::linear(joined, weight).square().sum()}, {weight})[0];
    must(at::allclose(torch::autograd::grad({fixed.product.square().sum()}, {weight})[0], expected, 1e-13, 1e-13),
         "the weight's gradient");
    at::Tensor const x = own.clone().requires_grad_();
    at::Tensor const slope = numbers({5, 30, 8}, at::kDouble, 1.1 + me.rank);
    at::Tensor const owed = torch::autograd::grad({(enter_with(x).whole * slope).sum()}, {x})[0];
    must(at::allclose(owed, me.tp.part_of(me.tp.all_reduced(slope), 1), 1e-14, 1e-14),
         "the gradient of the input if only the gathered input is used");
  });
}

}  // namespace overlapped_shards_test
