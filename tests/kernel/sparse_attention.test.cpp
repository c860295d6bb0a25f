#include "torch_catch.hpp"

#include "gradcheck.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/cpu/sparse_tile.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/layer/block_pattern.hpp>
#include <redco/diag/error.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

// Compares attention with patterns of blocks, and with sinks, with masked dense attention.

namespace sparse_kernel_test {

using redco::kernel::attention_options;
using redco::kernel::cross_attention;
using redco::kernel::self_attention;
using redco::layers::block_pattern;

at::Tensor sparse_random(at::IntArrayRef sizes, at::ScalarType type, std::uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::randn(sizes, generator, at::kDouble).to(type);
}

double sparse_difference(at::Tensor const& a, at::Tensor const& b) {
  REQUIRE(a.sizes() == b.sizes());
  double const most = (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
  return std::isnan(most) ? 1e300 : most;
}

/// Returns true if query position i sees key position j in head `head` of the "fixed" pattern, as
/// its authors define it, or of a sliding band.
bool sees(block_pattern const& p, std::int64_t head, std::int64_t i, std::int64_t j) {
  if (j > i) return false;
  std::int64_t const from = i / p.block, to = j / p.block;
  if (p.sliding) return from - to < p.local;
  if (from / p.local == to / p.local) return true;
  std::int64_t const place = to % p.local, set = head % p.patterns;
  return p.local - (set + 1) * p.global <= place && place < p.local - set * p.global;
}

at::Tensor hidden_keys(attention_options const& o, std::int64_t queries, std::int64_t keys) {
  at::Tensor const hidden = at::zeros({o.heads, queries, keys}, at::kBool);
  auto* to = hidden.mutable_data_ptr<bool>();
  for (std::int64_t h = 0; h < o.heads; ++h)
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j, ++to) {
        std::int64_t const position = o.query0 + i;
        bool const live =
            o.pattern.is_sparse() ? sees(o.pattern, o.head0 + h, position, j) : !o.causal || j <= position;
        *to = !live || (o.window > 0 && j <= position - o.window);
      }
  return hidden;
}

/// Returns masked dense attention with ATen operators in the type of the arguments.
at::Tensor masked_dense(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v, attention_options const& o) {
  auto const heads = [&](at::Tensor const& x, std::int64_t n) { return x.unflatten(2, {n, -1}).transpose(1, 2); };
  at::Tensor const keys = heads(k, o.kv_heads).repeat_interleave(o.heads / o.kv_heads, 1);
  at::Tensor const values = heads(v, o.kv_heads).repeat_interleave(o.heads / o.kv_heads, 1);
  at::Tensor scores =
      at::matmul(heads(q, o.heads), keys.transpose(2, 3)) / std::sqrt(static_cast<double>(keys.size(3)));
  if (o.soft_cap > 0) scores = at::tanh(scores / o.soft_cap) * o.soft_cap;
  if (o.bias.defined()) scores = scores + o.bias;
  at::Tensor hidden = hidden_keys(o, q.size(1), k.size(1)).unsqueeze(0);
  if (o.key_mask.defined()) hidden = hidden.logical_or(o.key_mask.logical_not().unsqueeze(1).unsqueeze(1));
  scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  at::Tensor out = at::matmul(scores.softmax(-1), values);
  if (o.sinks.defined()) out = out * at::sigmoid(scores.logsumexp(-1, true) - o.sinks.view({1, o.heads, 1, 1}));
  return out.transpose(1, 2).flatten(2);
}

struct sparse_case {
  block_pattern pattern;
  std::int64_t queries, keys, heads = 4, kv_heads = 4, width = 6;
  bool sunk = false, masked = false, biased = false;
  std::int64_t window = 0, head0 = 0;
  double soft_cap = 0;
};

constexpr block_pattern fixed{.block = 4, .local = 8, .global = 1, .patterns = 8};
constexpr block_pattern band{.block = 5, .local = 3, .sliding = true};

// Numbers of blocks are 0 and 3 modulo 8, and some sequences end within a block. Other cases have
// heads of one of several ranks, heads that share keys, a sliding window, or a cache.
std::vector<sparse_case> const sparse_cases{
    {fixed, 64, 64},
    {fixed, 76, 76, 10, 10, 3},
    {fixed, 77, 77, 4, 2, 6, true},
    {fixed, 3, 3, 2, 1, 6, true},
    {fixed, 67, 67, 4, 2, 6, false, true},
    {fixed, 66, 66, 4, 4, 6, true, true, true, 0, 6, 1.4},
    {fixed, 78, 78, 4, 4, 6, false, false, true, 41, 3},
    {fixed, 78, 78, 4, 2, 6, true, false, false, 300, 3},
    {fixed, 37, 99, 4, 2, 6, true, true, false, 0, 5},
    {fixed, 1, 99, 4, 1, 6, true},
    {{.block = 16, .local = 4, .global = 1, .patterns = 4}, 300, 300, 4, 2, 8},
    {{.block = 3, .local = 12, .global = 2, .patterns = 3}, 100, 100, 4, 4, 6, true},
    {{.block = 7, .local = 2}, 61, 61, 2, 2, 6, true},
    {{.block = 1, .local = 8, .global = 1, .patterns = 8}, 43, 43, 9, 3, 4},
    {band, 40, 40, 4, 2, 6, true},
    {band, 43, 43, 4, 4, 6, false, true, true, 0, 0, 0.9},
    {band, 12, 43, 4, 4, 6, true, false, false, 8},
    {{.block = 48, .local = 2, .sliding = true}, 401, 401, 2, 2, 8}};

/// Compares outputs and gradients of one kernel set with masked dense attention in f64.
void sparse_compare(sparse_case const& c, at::ScalarType type, double tolerance) {
  CAPTURE(c.pattern.block, c.pattern.local, c.pattern.sliding, c.queries, c.keys, c.heads, c.kv_heads, c.sunk, c.masked,
          c.biased, c.window, at::toString(type));
  attention_options o{.heads = c.heads,
                      .kv_heads = c.kv_heads,
                      .causal = true,
                      .window = c.window,
                      .pattern = c.pattern,
                      .soft_cap = c.soft_cap,
                      .head0 = c.head0,
                      .query0 = c.keys - c.queries};
  std::vector<at::Tensor> own{sparse_random({2, c.queries, c.heads * c.width}, type, 1),
                              sparse_random({2, c.keys, c.kv_heads * c.width}, type, 2),
                              sparse_random({2, c.keys, c.kv_heads * c.width}, type, 3)};
  if (c.biased) own.push_back(sparse_random({1, c.heads, c.queries, c.keys}, type, 4));
  if (c.sunk) own.push_back(sparse_random({c.heads}, type, 5));
  std::vector<at::Tensor> exact;
  for (auto& x : own) exact.push_back(x.to(at::kDouble).detach().clone().requires_grad_()), x.requires_grad_();
  if (c.masked) {
    o.key_mask = at::arange(c.keys).remainder(5).ne(1).repeat({2, 1});
    // Padding on the right, except the keys that a query needs to see any
    o.key_mask[1]
        .narrow(0, c.keys / 2, c.keys - c.keys / 2)
        .logical_and_(at::arange(c.keys - c.keys / 2).remainder(2).eq(0));
  }
  at::Tensor const grad = sparse_random({2, c.queries, c.heads * c.width}, type, 6);
  auto const with = [&](attention_options options, std::vector<at::Tensor> const& x) {
    if (c.biased) options.bias = x[3];
    if (c.sunk) options.sinks = x.back();
    return options;
  };
  at::Tensor const y = cross_attention(own[0], own[1], own[2], with(o, own));
  at::Tensor const expected = masked_dense(exact[0], exact[1], exact[2], with(o, exact));
  CHECK(y.is_contiguous());
  // Rows whose keys are all masked are NaN in the masked dense attention.
  at::Tensor const defined = expected.detach().isnan().logical_not();
  CHECK(sparse_difference(y * defined, expected.detach().nan_to_num()) < tolerance);
  if (!defined.all().item<bool>()) return;
  auto const got = torch::autograd::grad({y}, own, {grad});
  auto const wanted = torch::autograd::grad({expected}, exact, {grad.to(at::kDouble)});
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].scalar_type() == type);
    CHECK(sparse_difference(got[i], wanted[i]) < tolerance * (1 + wanted[i].abs().max().item<double>()));
  }
}

TEST_CASE(
    "attention with a pattern of blocks equals masked dense attention, gradients of keys, values, bias and sinks included") {
  for (auto const set : {redco::tensors::kernel_set::fastest, redco::tensors::kernel_set::composed}) {
    redco::tensors::forced_kernel_set const forced(set);
    for (auto const& c : sparse_cases) {
      sparse_compare(c, at::kDouble, 1e-12);
      sparse_compare(c, at::kFloat, 5e-6);
      sparse_compare(c, at::kBFloat16, 4e-2);
    }
  }
}

TEST_CASE("sinks of dense attention equal their definition, with windows shorter and longer than the sequence") {
  for (std::int64_t const window : {0, 9, 200})
    for (std::int64_t const length : {21, 130}) {
      sparse_case const c{{}, length, length, 4, 2, 6, true, false, false, window};
      sparse_compare(c, at::kDouble, 1e-12);
      sparse_compare(c, at::kFloat, 5e-6);
      sparse_compare(c, at::kBFloat16, 4e-2);
    }
}

TEST_CASE("a sink far below all scores changes nothing, and one far above them takes everything") {
  for (auto const type : {at::kDouble, at::kFloat}) {
    attention_options o{.heads = 2, .kv_heads = 2, .causal = true};
    at::Tensor const qkv = sparse_random({2, 9, 6 * 4}, type, 1), plain = self_attention(qkv, o);
    o.sinks = at::full({2}, -1e4, type);
    CHECK(sparse_difference(self_attention(qkv, o), plain) < 1e-6);
    o.sinks = at::full({2}, 1e4, type).requires_grad_();
    at::Tensor const x = qkv.clone().requires_grad_(), none = self_attention(x, o);
    CHECK(none.abs().max().item<double>() == 0);
    for (at::Tensor const& g : torch::autograd::grad({none.sum()}, {x, o.sinks}))
      CHECK(g.abs().max().item<double>() == 0);
  }
}

TEST_CASE("first and second derivatives of sparse attention and sinks agree with central differences") {
  auto const leaf = [](at::IntArrayRef sizes, std::uint64_t seed) {
    return sparse_random(sizes, at::kDouble, seed).requires_grad_();
  };
  auto const f = [&](std::vector<at::Tensor> const& x) {
    attention_options o{.heads = 2, .kv_heads = 1, .causal = true, .soft_cap = 2, .dropout = 0.2, .key = {1, 2}};
    o.pattern = {.block = 1, .local = 2, .global = 1, .patterns = 2}, o.sinks = x[1];
    return self_attention(x[0], o);
  };
  CHECK(gradcheck::first(f, {leaf({2, 5, 12}, 1), leaf({2}, 2)}) < 1e-8);
  CHECK(gradcheck::second(f, {leaf({2, 5, 12}, 1), leaf({2}, 2)}) < 1e-7);
}

TEST_CASE("the counts of live blocks are those of the definition, and the published shares of dense causal attention") {
  constexpr block_pattern mgpt{.block = 16, .local = 8, .global = 1, .patterns = 8};
  for (auto const& c : sparse_cases) {
    block_pattern const& p = c.pattern;
    for (std::int64_t const tokens : {p.block * 16, p.block * 11, c.keys}) {
      std::int64_t const blocks = (tokens + p.block - 1) / p.block;
      std::int64_t scores = 0;
      for (std::int64_t head = 0; head < 5; ++head) {
        std::int64_t live = 0;
        for (std::int64_t i = 0; i < blocks; ++i)
          for (std::int64_t j = 0; j <= i; ++j) {
            bool const is_live = sees(p, head, i * p.block, j * p.block);
            CHECK(p.has(head, i, j) == is_live);
            auto const size = [&](std::int64_t block) { return std::min(p.block, tokens - block * p.block); };
            live += is_live, scores += is_live ? size(i) * size(j) : 0;
          }
        CHECK(p.live_blocks(head, blocks) == live);
      }
      CHECK(p.live_scores(5, tokens) == scores);
    }
  }
  auto const share = [&](std::int64_t tokens) {
    std::int64_t const blocks = tokens / mgpt.block;
    return static_cast<double>(mgpt.live_blocks(3, blocks)) / static_cast<double>(blocks * (blocks + 1) / 2);
  };
  CHECK(share(512) == Approx(0.3636).margin(5e-5));
  CHECK(share(1024) == Approx(0.2462).margin(5e-5));
  CHECK(share(2048) == Approx(0.1860).margin(5e-5));
  CHECK(share(4096) == Approx(0.1556).margin(5e-5));
  STATIC_REQUIRE(mgpt.live_blocks(0, 32) == 192);
}

TEST_CASE("forward computes the scores of each live block once and of no other block; backward twice") {
  // CUDA texts, which a launcher may run on a CPU, do not take f64.
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  auto& touched = redco::kernel::cpu::touched_blocks();
  constexpr block_pattern mgpt{.block = 16, .local = 8, .global = 1, .patterns = 8};
  for (auto const& [pattern, tokens] :
       {std::pair(mgpt, 512), std::pair(mgpt, 1024), std::pair(mgpt, 2048), std::pair(mgpt, 4096), std::pair(fixed, 75),
        std::pair(band, 43), std::pair(band, 400)}) {
    CAPTURE(pattern.block, tokens);
    attention_options o{.heads = 3, .kv_heads = 3, .causal = true, .pattern = pattern, .head0 = 6};
    at::Tensor const qkv = sparse_random({2, tokens, 9 * 2}, at::kDouble, 1).requires_grad_();
    std::int64_t live = 0;
    for (std::int64_t h = 0; h < 3; ++h)
      live += 2 * pattern.live_blocks(o.head0 + h, (tokens + pattern.block - 1) / pattern.block);
    std::int64_t const before = touched;
    at::Tensor const y = self_attention(qkv, o);
    CHECK(touched - before == live);
    y.sum().backward();
    CHECK(touched - before == 3 * live);
  }
}

TEST_CASE("decoding with a pattern, sinks and a cache gives the rows of the whole sequence") {
  for (auto const set : {redco::tensors::kernel_set::fastest, redco::tensors::kernel_set::composed}) {
    redco::tensors::forced_kernel_set const forced(set);
    for (block_pattern const& pattern : {fixed, band, block_pattern{}})
      for (std::int64_t const window : {0, 13})
        for (bool const masked : {false, true}) {
          double const soft_cap = masked ? 1.5 : 0;
          CAPTURE(pattern.block, window, masked);
          attention_options o{.heads = 4,
                              .kv_heads = 2,
                              .causal = true,
                              .window = window,
                              .pattern = pattern,
                              .soft_cap = soft_cap,
                              .head0 = 4};
          at::Tensor const q = sparse_random({2, 43, 4 * 8}, at::kDouble, 1),
                           k = sparse_random({2, 43, 16}, at::kDouble, 2),
                           v = sparse_random({2, 43, 16}, at::kDouble, 3);
          o.sinks = sparse_random({4}, at::kDouble, 4);
          at::Tensor mask = at::ones({2, 43}, at::kBool);
          mask[1].narrow(0, 0, 21).fill_(false);  // some queries see no key
          if (masked) o.key_mask = mask;
          at::Tensor const whole = cross_attention(q, k, v, o);
          at::Tensor const keys = k.flatten(0, 1), values = v.flatten(0, 1);
          for (std::int64_t const count : {1, 3})
            for (std::int64_t i = 0; i + count <= 43; i += 2 * count - 1) {
              o.query0 = i;
              if (masked) o.key_mask = mask.narrow(1, 0, i + count);
              at::Tensor const indices = (at::arange(i + count) + at::arange(2).unsqueeze(1) * 43).to(at::kInt);
              at::Tensor const rows =
                  redco::kernel::gathered_attention(q.narrow(1, i, count), {keys, values, indices}, o);
              CHECK(sparse_difference(rows, whole.narrow(1, i, count)) < 1e-13);
            }
          o.query0 = 0;
        }
  }
}

TEST_CASE("sparse attention and its dropout are the same for any split of heads") {
  for (auto const type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    attention_options o{.heads = 4, .kv_heads = 2, .causal = true, .pattern = fixed, .dropout = 0.3, .key = {7, 9}};
    o.sinks = sparse_random({4}, type, 4).requires_grad_();
    at::Tensor const q = sparse_random({3, 75, 4 * 8}, type, 1).requires_grad_(),
                     k = sparse_random({3, 75, 16}, type, 2).requires_grad_(),
                     v = sparse_random({3, 75, 16}, type, 3).requires_grad_(),
                     grad = sparse_random({3, 75, 4 * 8}, type, 5), whole = cross_attention(q, k, v, o);
    auto const wanted = torch::autograd::grad({whole}, {q, k, v, o.sinks}, {grad});
    for (std::int64_t head = 0; head < 4; head += 2) {
      attention_options part = o;
      part.heads = 2, part.kv_heads = 1, part.head0 = head, part.sinks = o.sinks.narrow(0, head, 2);
      at::Tensor const y =
          cross_attention(q.narrow(2, head * 8, 16), k.narrow(2, head * 4, 8), v.narrow(2, head * 4, 8), part);
      CHECK(at::equal(y, whole.narrow(2, head * 8, 16)));
      auto const found = torch::autograd::grad({y}, {q, k, v, o.sinks}, {grad.narrow(2, head * 8, 16)});
      CHECK(at::equal(found[0].narrow(2, head * 8, 16), wanted[0].narrow(2, head * 8, 16)));
      CHECK(at::equal(found[1].narrow(2, head * 4, 8), wanted[1].narrow(2, head * 4, 8)));
      CHECK(at::equal(found[2].narrow(2, head * 4, 8), wanted[2].narrow(2, head * 4, 8)));
      CHECK(at::equal(found[3].narrow(0, head, 2), wanted[3].narrow(0, head, 2)));
    }
  }
}

TEST_CASE("sparse attention does not depend on the number of threads") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  at::Tensor const qkv = sparse_random({3, 75, 9 * 8}, at::kFloat, 1).requires_grad_();
  attention_options o{.heads = 3, .kv_heads = 3, .causal = true, .pattern = fixed};
  o.sinks = sparse_random({3}, at::kFloat, 2).requires_grad_();
  int const threads = at::get_num_threads();
  std::vector<at::Tensor> results;
  for (int const n : {1, 2, 3}) {
    at::set_num_threads(n);
    at::Tensor const y = self_attention(qkv, o);
    auto const grads = torch::autograd::grad({y.square().sum()}, {qkv, o.sinks});
    results.push_back(at::cat({y.flatten(), grads[0].flatten(), grads[1]}));
  }
  at::set_num_threads(threads);
  CHECK(at::equal(results[0], results[1]));
  CHECK(at::equal(results[0], results[2]));
}

TEST_CASE("attention refuses patterns and sinks that do not fit") {
  at::Tensor const qkv = at::zeros({2, 3, 12});
  auto const refused = [&](auto const& change) {
    attention_options o{.heads = 2, .kv_heads = 2, .causal = true, .pattern = fixed};
    change(o);
    try {
      self_attention(qkv, o);
      return false;
    } catch (redco::error const& e) {
      return e.code() == redco::exit_code::internal;
    }
  };
  CHECK_FALSE(refused([](auto&) {}));
  CHECK(refused([](auto& o) { o.causal = false; }));
  CHECK(refused([](auto& o) { o.pattern.local = 0; }));
  CHECK(refused([](auto& o) { o.pattern.block = -1; }));
  CHECK(refused([](auto& o) { o.pattern.patterns = 9; }));
  CHECK(refused([](auto& o) { o.query0 = 1; }));
  CHECK(refused([](auto& o) { o.sinks = at::zeros({3}); }));
  CHECK(refused([](auto& o) { o.sinks = at::zeros({2}, at::kMeta); }));
}

}  // namespace sparse_kernel_test
