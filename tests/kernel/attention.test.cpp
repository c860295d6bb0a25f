#include "torch_catch.hpp"

#include "gradcheck.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/random/philox.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

using redco::kernel::attention_options;
using redco::kernel::cross_attention;
using redco::kernel::self_attention;

at::Tensor attention_random(at::IntArrayRef sizes, at::ScalarType type, std::uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::randn(sizes, generator, at::kDouble).to(type);
}

// Returns attention by its definition, with ATen operators in the type of the arguments.
at::Tensor attention_by_definition(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                                   attention_options const& o) {
  auto const heads = [&](at::Tensor const& x, std::int64_t n) { return x.unflatten(2, {n, -1}).transpose(1, 2); };
  auto const keys = heads(k, o.kv_heads).repeat_interleave(o.heads / o.kv_heads, 1);
  auto const values = heads(v, o.kv_heads).repeat_interleave(o.heads / o.kv_heads, 1);
  auto const scale = o.scale != 0 ? o.scale : 1 / std::sqrt(static_cast<double>(keys.size(3)));
  auto scores = at::matmul(heads(q, o.heads), keys.transpose(2, 3)) * scale;
  if (o.soft_cap > 0) scores = at::tanh(scores / o.soft_cap) * o.soft_cap;
  if (o.bias.defined()) scores = scores + o.bias;
  auto hidden = at::zeros({1, 1, q.size(1), k.size(1)}, at::kBool);
  if (o.causal) hidden = at::ones_like(hidden).triu(o.query0 + 1);
  if (o.key_mask.defined()) hidden = hidden.logical_or(o.key_mask.logical_not().unsqueeze(1).unsqueeze(1));
  scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return at::matmul(scores.softmax(-1), values).transpose(1, 2).flatten(2);
}

double attention_difference(at::Tensor const& a, at::Tensor const& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

struct attention_case {
  std::int64_t batch, queries, keys, heads, kv_heads, width;
  bool causal, masked, biased, shared_bias;
  double soft_cap = 0;
};

// Compares outputs and gradients of the kernel with the definition in f64.
void attention_compare(attention_case const& c, at::ScalarType type, double tolerance) {
  CAPTURE(c.batch, c.queries, c.keys, c.heads, c.kv_heads, c.width, c.causal, c.masked, c.biased, c.soft_cap,
          at::toString(type));
  attention_options o{.heads = c.heads,
                      .kv_heads = c.kv_heads,
                      .causal = c.causal,
                      .soft_cap = c.soft_cap,
                      .query0 = c.keys - c.queries};
  std::vector<at::Tensor> own{attention_random({c.batch, c.queries, c.heads * c.width}, type, 1),
                              attention_random({c.batch, c.keys, c.kv_heads * c.width}, type, 2),
                              attention_random({c.batch, c.keys, c.kv_heads * c.width}, type, 3)};
  if (c.biased) own.push_back(attention_random({c.shared_bias ? 1 : c.batch, c.heads, c.queries, c.keys}, type, 4));
  std::vector<at::Tensor> exact;
  for (auto& x : own) exact.push_back(x.to(at::kDouble).detach().clone().requires_grad_()), x.requires_grad_();
  if (c.masked) {
    o.key_mask = at::ones({c.batch, c.keys}, at::kBool);
    o.key_mask.index_put_({at::tensor(0)}, at::arange(c.keys) % 3 != 1);
    o.key_mask.select(0, c.batch - 1).narrow(0, c.keys - 2, 2).fill_(false);
  }
  auto const grad = attention_random({c.batch, c.queries, c.heads * c.width}, type, 5);
  auto with_bias = [&](attention_options options, std::vector<at::Tensor> const& x) {
    if (c.biased) options.bias = x[3];
    return options;
  };
  auto const y = cross_attention(own[0], own[1], own[2], with_bias(o, own));
  auto const expected = attention_by_definition(exact[0], exact[1], exact[2], with_bias(o, exact));
  CHECK(y.is_contiguous());
  CHECK(attention_difference(y, expected) < tolerance);
  auto const got = torch::autograd::grad({y}, own, {grad});
  auto const wanted = torch::autograd::grad({expected}, exact, {grad.to(at::kDouble)});
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].scalar_type() == type);
    CHECK(attention_difference(got[i], wanted[i]) < tolerance * (1 + wanted[i].abs().max().item<double>()));
  }
}

std::vector<attention_case> const attention_cases{
    {2, 7, 7, 3, 3, 5, true, false, false, false},         {3, 5, 9, 2, 2, 4, false, false, false, false},
    {2, 6, 11, 6, 2, 8, true, false, false, false},        {2, 130, 130, 2, 1, 16, true, false, false, false},
    {2, 70, 197, 4, 2, 12, false, true, false, false},     {3, 33, 40, 2, 2, 24, true, true, true, false},
    {2, 19, 23, 4, 4, 7, false, true, true, true},         {2, 1, 37, 4, 2, 16, true, false, false, false},
    {2, 70, 70, 4, 2, 12, true, false, false, false, 1.3}, {3, 33, 40, 2, 1, 24, true, true, false, false, 0.4},
    {2, 19, 23, 4, 4, 7, false, true, true, true, 2.1},    {2, 96, 96, 4, 2, 32, true, false, false, false},
    {1, 72, 200, 2, 2, 64, true, true, true, false, 1.7},  {2, 64, 64, 3, 3, 32, false, false, false, false},
    {2, 166, 166, 2, 1, 64, true, false, false, false}};

TEST_CASE("attention in f64 equals its definition, including gradients") {
  for (auto const& c : attention_cases) attention_compare(c, at::kDouble, 1e-12);
}

TEST_CASE("attention in f32 equals its definition to single precision") {
  for (auto const& c : attention_cases) attention_compare(c, at::kFloat, 4e-6);
}

TEST_CASE("attention in bf16 keeps its softmax in f32") {
  // Operands of the products are rounded to 8 bits: 2^-8 of values up to 4.
  for (auto const& c : attention_cases) attention_compare(c, at::kBFloat16, 3e-2);
}

TEST_CASE("each query of a packed row sees the keys of its own document only") {
  // Documents longer than a block of queries, at its border and within it; they differ by row.
  std::vector<std::vector<std::int64_t>> const lengths{{1, 63, 2, 67, 40, 24}, {150, 47}};
  std::vector<std::int64_t> positions;
  for (auto const& row : lengths)
    for (std::int64_t const length : row)
      for (std::int64_t t = 0; t < length; ++t) positions.push_back(t);
  for (auto const& [type, tolerance] :
       {std::pair(at::kDouble, 1e-12), std::pair(at::kFloat, 4e-6), std::pair(at::kBFloat16, 3e-2)})
    for (auto const& [window, width] : {std::pair(0, 6), std::pair(30, 6), std::pair(0, 32), std::pair(30, 32)})
      for (bool const dense : {false, true}) {
        CAPTURE(at::toString(type), window, width, dense);
        attention_options o{.heads = 4, .kv_heads = 2, .causal = true, .window = window};
        at::Tensor const distances = attention_random({4, 2 * 197 - 1}, at::kDouble, 13).to(type);
        if (dense) o.bias = distances, o.distance0 = 196;
        o.documents = at::tensor(positions).view({2, 197});
        at::Tensor const qkv = attention_random({2, 197, 8 * width}, type, 14).requires_grad_();
        at::Tensor const y = self_attention(qkv, o), grad = attention_random(y.sizes(), type, 15);
        at::Tensor const found = torch::autograd::grad({y}, {qkv}, {grad})[0];
        o.documents.reset();
        for (std::int64_t b = 0; b < 2; ++b)
          for (std::int64_t begin = 0, i = 0; i < std::ssize(lengths[static_cast<std::size_t>(b)]); ++i) {
            std::int64_t const length = lengths[static_cast<std::size_t>(b)][static_cast<std::size_t>(i)];
            auto const part = [&](at::Tensor const& x) { return x.narrow(0, b, 1).narrow(1, begin, length); };
            at::Tensor const alone = part(qkv).detach().clone().requires_grad_(), z = self_attention(alone, o);
            CAPTURE(b, begin, length);
            CHECK(attention_difference(part(y), z) < tolerance);
            CHECK(attention_difference(part(found), torch::autograd::grad({z}, {alone}, {part(grad)})[0]) <
                  2 * tolerance * (1 + found.abs().max().item<double>()));
            begin += length;
          }
      }
}

TEST_CASE("packed attention equals separate attention in value and gradient") {
  for (auto const type : {at::kDouble, at::kFloat, at::kBFloat16}) {
    attention_options const o{.heads = 4, .kv_heads = 2, .causal = true};
    auto const qkv = attention_random({2, 67, 8 * 6}, type, 6).requires_grad_();
    auto const y = self_attention(qkv, o);
    auto const z = cross_attention(qkv.narrow(2, 0, 24), qkv.narrow(2, 24, 12), qkv.narrow(2, 36, 12), o);
    CHECK(at::equal(y, z));
    auto const grad = attention_random({2, 67, 24}, type, 7);
    auto const dy = torch::autograd::grad({y}, {qkv}, {grad})[0], dz = torch::autograd::grad({z}, {qkv}, {grad})[0];
    CHECK(dy.is_contiguous());
    CHECK(attention_difference(dy, dz) == 0);
  }
}

TEST_CASE("decoding with a cache gives the rows of the whole sequence") {
  for (auto const type : {at::kDouble, at::kFloat}) {
    attention_options o{.heads = 4, .kv_heads = 2, .causal = true};
    auto const q = attention_random({2, 21, 4 * 8}, type, 8), cache = attention_random({2, 32, 2 * 2 * 8}, type, 9);
    // Strided, and longer than the keys that are read
    auto const k = cache.narrow(2, 0, 16), v = cache.narrow(2, 16, 16);
    auto const whole = cross_attention(q, k.narrow(1, 0, 21), v.narrow(1, 0, 21), o);
    for (std::int64_t i = 0; i < 21; ++i) {
      o.query0 = i;
      auto const row = cross_attention(q.narrow(1, i, 1), k.narrow(1, 0, i + 1), v.narrow(1, 0, i + 1), o);
      CHECK(attention_difference(row, whole.narrow(1, i, 1)) < (type == at::kDouble ? 1e-13 : 2e-6));
    }
  }
}

TEST_CASE("dropout of attention is the same for any split of heads and rows") {
  for (auto const type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    attention_options o{
        .heads = 4, .kv_heads = 2, .causal = true, .dropout = 0.3, .key = {7, 9}, .row0 = 5, .head0 = 4};
    auto const q = attention_random({3, 35, 4 * 8}, type, 10).requires_grad_();
    auto const k = attention_random({3, 35, 2 * 8}, type, 11).requires_grad_();
    auto const v = attention_random({3, 35, 2 * 8}, type, 12).requires_grad_();
    auto const grad = attention_random({3, 35, 4 * 8}, type, 13);
    auto const whole = cross_attention(q, k, v, o);
    auto const whole_grads = torch::autograd::grad({whole}, {q, k, v}, {grad});
    CHECK(attention_difference(whole, cross_attention(q, k, v, {.heads = 4, .kv_heads = 2, .causal = true})) > 0.1);
    for (std::int64_t head = 0; head < 4; head += 2) {
      auto part = o;
      part.heads = 2, part.kv_heads = 1, part.head0 = 4 + head;
      auto const y =
          cross_attention(q.narrow(2, head * 8, 16), k.narrow(2, head / 2 * 8, 8), v.narrow(2, head / 2 * 8, 8), part);
      CHECK(at::equal(y, whole.narrow(2, head * 8, 16)));
      auto const grads = torch::autograd::grad({y}, {q, k, v}, {grad.narrow(2, head * 8, 16)});
      CHECK(at::equal(grads[0].narrow(2, head * 8, 16), whole_grads[0].narrow(2, head * 8, 16)));
      CHECK(at::equal(grads[1].narrow(2, head / 2 * 8, 8), whole_grads[1].narrow(2, head / 2 * 8, 8)));
      CHECK(at::equal(grads[2].narrow(2, head / 2 * 8, 8), whole_grads[2].narrow(2, head / 2 * 8, 8)));
    }
    auto rows = o;
    rows.row0 = 6;
    CHECK(at::equal(cross_attention(q.narrow(0, 1, 2), k.narrow(0, 1, 2), v.narrow(0, 1, 2), rows),
                    whole.narrow(0, 1, 2)));
  }
}

TEST_CASE("dropout zeroes the stated share of probabilities and scales the others") {
  // If v is the identity, the output is the matrix of kept probabilities. Equal scores make each of
  // them 1 / (64 * 0.75) or 0.
  auto const q = at::zeros({2, 64, 64}), v = at::eye(64).expand({2, 64, 64}).contiguous();
  auto const p = cross_attention(q, q, v, {.heads = 1, .kv_heads = 1, .dropout = 0.25, .key = {3, 4}});
  auto const kept = p.ne(0);
  CHECK(attention_difference(p.masked_select(kept), at::full({kept.sum().item<std::int64_t>()}, 1 / 48.0)) < 1e-8);
  CHECK(kept.to(at::kDouble).mean().item<double>() == Approx(0.75).margin(0.02));
  // Key 13, query 5, head 0, row 1
  auto const word = redco::random::philox({13 / 4, 5, 0, 1}, {3, 4})[13 % 4];
  CHECK(kept[1][5][13].item<bool>() == (word >= 0x40000000u));
}

TEST_CASE("a query that may see no key takes the mean of the values") {
  auto const q = attention_random({2, 4, 6}, at::kDouble, 14).requires_grad_();
  auto const k = attention_random({2, 5, 6}, at::kDouble, 15).requires_grad_();
  auto const v = attention_random({2, 5, 6}, at::kDouble, 16).requires_grad_();
  attention_options o{.heads = 2, .kv_heads = 2, .key_mask = at::ones({2, 5}, at::kBool)};
  o.key_mask[1].fill_(false);
  auto const y = cross_attention(q, k, v, o);
  CHECK(attention_difference(y[1], v[1].mean(0, true).expand({4, 6})) < 1e-14);
  for (bool const higher : {false, true}) {
    auto const grads = torch::autograd::grad({y}, {q, k, v}, {at::ones_like(y)}, true, higher);
    CHECK(grads[0][1].abs().max().item<double>() == 0);
    CHECK(attention_difference(grads[2][1], at::full({5, 6}, 0.8, at::kDouble)) < 1e-14);
  }
  o.causal = true;
  o.key_mask = at::tensor({0, 0, 1, 1, 1, 1, 1, 1, 1, 1}).view({2, 5}).to(at::kBool);
  auto const causal = cross_attention(q, k, v, o);  // the first two queries of example 0 see no key
  CHECK(attention_difference(causal[0][1], v[0].narrow(0, 0, 2).mean(0)) < 1e-14);
}

TEST_CASE("first and second derivatives of attention agree with central differences") {
  attention_options o{.heads = 2, .kv_heads = 1, .causal = true, .dropout = 0.2, .key = {1, 2}, .query0 = 1};
  o.key_mask = at::tensor({1, 0, 1, 1, 1, 1, 1, 0}).view({2, 4}).to(at::kBool);
  auto const leaf = [](at::IntArrayRef sizes, std::uint64_t seed) {
    return attention_random(sizes, at::kDouble, seed).requires_grad_();
  };
  auto const separate = [&](std::vector<at::Tensor> const& x) {
    auto options = o;
    options.bias = x[3];
    return cross_attention(x[0], x[1], x[2], options);
  };
  for (std::int64_t const bias_rows : {1, 2}) {
    o.soft_cap = bias_rows == 1 ? 0.6 : 0;
    std::vector<at::Tensor> const x{leaf({2, 3, 6}, 17), leaf({2, 4, 3}, 18), leaf({2, 4, 3}, 19),
                                    leaf({bias_rows, 2, 3, 4}, 20)};
    CHECK(gradcheck::first(separate, x) < 1e-8);
    CHECK(gradcheck::second(separate, x) < 1e-7);
  }
  for (double const soft_cap : {0.0, 0.7}) {
    auto const packed = [&](std::vector<at::Tensor> const& x) {
      return self_attention(x[0], {.heads = 2, .kv_heads = 1, .causal = true, .scale = 0.8, .soft_cap = soft_cap});
    };
    CHECK(gradcheck::first(packed, {leaf({2, 3, 12}, 21)}) < 1e-8);
    CHECK(gradcheck::second(packed, {leaf({2, 3, 12}, 22)}) < 1e-7);
  }
}

TEST_CASE("attention does not depend on the number of threads") {
  auto const qkv = attention_random({3, 65, 9 * 8}, at::kFloat, 23).requires_grad_();
  attention_options const o{.heads = 3, .kv_heads = 3, .causal = true, .dropout = 0.1, .key = {5, 6}};
  int const threads = at::get_num_threads();
  std::vector<at::Tensor> results;
  for (int const n : {1, 2, 3}) {
    at::set_num_threads(n);
    auto const y = self_attention(qkv, o);
    results.push_back(at::cat({y.flatten(), torch::autograd::grad({y.square().sum()}, {qkv})[0].flatten()}));
  }
  at::set_num_threads(threads);
  CHECK(at::equal(results[0], results[1]));
  CHECK(at::equal(results[0], results[2]));
}

TEST_CASE("attention refuses tensors that do not fit") {
  auto const q = at::zeros({2, 3, 8}), k = at::zeros({2, 5, 4});
  CHECK_THROWS_AS(cross_attention(q, k, k, {.heads = 3, .kv_heads = 1}), redco::error);
  CHECK_THROWS_AS(cross_attention(q, k, k, {.heads = 2, .kv_heads = 2}), redco::error);
  CHECK_THROWS_AS(cross_attention(q, k, k.narrow(1, 0, 4), {.heads = 2, .kv_heads = 1}), redco::error);
  CHECK_THROWS_AS(cross_attention(q, k, k, {.heads = 2, .kv_heads = 1, .key_mask = at::ones({2, 3}, at::kBool)}),
                  redco::error);
  CHECK_THROWS_AS(cross_attention(q, k, k, {.heads = 2, .kv_heads = 1, .bias = at::zeros({2, 2, 5, 3})}), redco::error);
  CHECK_THROWS_AS(cross_attention(q, k, k, {.heads = 2, .kv_heads = 1, .dropout = 1}), redco::error);
  CHECK_THROWS_AS(cross_attention(q, k, k, {.heads = 2, .kv_heads = 1, .soft_cap = -1}), redco::error);
  CHECK_THROWS_AS(self_attention(at::zeros({2, 3, 10}), {.heads = 2, .kv_heads = 1}), redco::error);
  at::Tensor const places = at::tensor({0, 1, 0, 0, 1, 2}, at::kLong).view({2, 3}), qkv = at::zeros({2, 3, 8});
  CHECK_NOTHROW(self_attention(qkv, {.heads = 2, .causal = true, .documents = places}));
  CHECK_THROWS_AS(self_attention(qkv, {.heads = 2, .documents = places}), redco::error);
  CHECK_THROWS_AS(self_attention(qkv, {.heads = 2, .causal = true, .documents = places.t()}), redco::error);
  CHECK_THROWS_AS(self_attention(qkv, {.heads = 2, .causal = true, .documents = places + 1}), redco::error);
}

}  // namespace
