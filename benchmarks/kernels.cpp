// Measures the library's kernels against ATen operators that compute the same result, forward and
// backward, in turns in one run. Prints one JSON line with median times per kernel, dtype and size;
// `ratio` is ATen's time divided by ours. For a grouped product, `aten_ms` is the time of a product
// of one weight with as many rows, by this library's kernel.

#include <redco/kernel/attention.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/experts.hpp>
#include <redco/kernel/linear.hpp>

#include <redco/comm/in_process_group.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/tensor_memory.hpp>

#include <ATen/Parallel.h>

#include "timing.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using redco::kernel::attention_options;

void compare(std::string const& kernel, at::ScalarType type, std::string const& size, auto const& own,
             auto const& aten) {
  std::vector<double> ours, theirs;
  for (int turn = -2; turn < 9; ++turn) {
    double const a = milliseconds(own), b = milliseconds(aten);
    if (turn >= 0) ours.push_back(a), theirs.push_back(b);
  }
  std::printf(
      R"({"kernel": "%s", "dtype": "%s", "size": "%s", "threads": %d, "ms": %.3f, "aten_ms": %.3f, "ratio": %.2f})"
      "\n",
      kernel.c_str(), type == at::kFloat ? "f32" : "bf16", size.c_str(), at::get_num_threads(), median(ours),
      median(theirs), median(theirs) / median(ours));
  std::fflush(stdout);
}

void attention(at::ScalarType type, std::int64_t heads, double dropout) {
  std::int64_t const batch = 16, length = 256, width = 64;
  auto const qkv = at::randn({batch, length, 3 * heads * width}).to(type).requires_grad_();
  auto const grad = at::randn({batch, length, heads * width}).to(type);
  attention_options const o{.heads = heads, .kv_heads = heads, .causal = true, .dropout = dropout, .key = {1, 2}};
  auto const own = [&] { return redco::kernel::self_attention(qkv, o); };
  auto const aten = [&] {
    auto const parts = qkv.view({batch, length, 3, heads, width}).permute({2, 0, 3, 1, 4});
    return at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, dropout, true).transpose(1, 2).flatten(2);
  };
  auto const backward = [&](at::Tensor const& y) { torch::autograd::grad({y}, {qkv}, {grad}); };
  auto const size = "B 16, T 256, H " + std::to_string(heads) + ", D 64";
  std::string const name = dropout > 0 ? "attention with dropout" : "attention";
  compare(name + ", forward", type, size, own, aten);
  compare(
      name, type, size, [&] { backward(own()); }, [&] { backward(aten()); });
}

void entropy(at::ScalarType type, std::int64_t rows, std::int64_t vocabulary, std::int64_t width) {
  auto const groups = redco::comm::in_process_group::make("tp", 1);
  auto const hidden = at::randn({rows, width}).to(type).requires_grad_();
  auto const weight = (at::randn({vocabulary, width}) * 0.02).to(type).requires_grad_();
  auto const labels = at::randint(vocabulary, {rows}, at::kLong);
  auto const own = [&] {
    auto const loss =
        redco::kernel::cross_entropy(hidden, {.weight = weight, .vocabulary = vocabulary}, labels, *groups[0]);
    torch::autograd::grad({loss.sum}, {hidden, weight});
  };
  auto const aten = [&] {
    auto const logits = at::linear(hidden, weight).to(at::kFloat);
    torch::autograd::grad({at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum)}, {hidden, weight});
  };
  compare("head and cross entropy", type,
          "N " + std::to_string(rows) + ", V " + std::to_string(vocabulary) + ", d " + std::to_string(width), own,
          aten);
}

/// Compares a linear map, forward and backward, by the implementation of f32 products that is the
/// default on AMD's CPUs with AVX-512, with ATen's.
void linear(std::int64_t rows, std::int64_t in, std::int64_t out) {
  redco::tensors::forced_f32_path const packed(redco::tensors::f32_path::packed);
  auto const x = at::randn({rows, in}).requires_grad_(), weight = at::randn({out, in}).requires_grad_(),
             bias = at::randn({out}).requires_grad_(), grad = at::randn({rows, out});
  auto const gradients = [&](at::Tensor const& y) { torch::autograd::grad({y}, {x, weight, bias}, {grad}); };
  compare(
      "linear", at::kFloat,
      "rows " + std::to_string(rows) + ", in " + std::to_string(in) + ", out " + std::to_string(out),
      [&] { gradients(redco::kernel::linear(x, weight, bias)); }, [&] { gradients(at::linear(x, weight, bias)); });
}

/// Compares the products of experts that have 64 rows each, forward and backward, with the product
/// of one weight with all rows.
void grouped(at::ScalarType type, std::int64_t experts, std::int64_t in, std::int64_t out) {
  constexpr std::int64_t each = 64;
  auto const random = [&](at::IntArrayRef sizes) { return at::randn(sizes).to(type).requires_grad_(); };
  auto const x = random({experts * each, in}), weights = random({experts, out, in}), weight = random({out, in}),
             grad = at::randn({experts * each, out}).to(type);
  std::vector<std::int64_t> offsets;
  for (std::int64_t e = 0; e <= experts; ++e) offsets.push_back(e * each);
  auto const own = [&] { return redco::kernel::grouped_linear(x, {weights}, offsets); };
  auto const dense = [&] { return redco::kernel::linear(x, weight, {}); };
  auto const size =
      "experts " + std::to_string(experts) + ", in " + std::to_string(in) + ", out " + std::to_string(out);
  compare("grouped linear, forward", type, size, own, dense);
  compare(
      "grouped linear", type, size,
      [&] {
        torch::autograd::grad({own()}, {x, weights}, {grad});
      },
      [&] {
        torch::autograd::grad({dense()}, {x, weight}, {grad});
      });
}

}  // namespace

int main() {
  // Memory of freed tensors is kept, which is what ranks do.
  redco::tensors::kept_memory::install();
  redco::tensors::kept_memory::scope const kept;
  linear(2048, 384, 1536);
  linear(2048, 1536, 384);
  linear(1024, 768, 3072);
  for (auto const type : {at::kFloat, at::kBFloat16}) {
    for (std::int64_t const heads : {6, 3}) attention(type, heads, 0);
    attention(type, 6, 0.1);
    grouped(type, 16, 512, 256);
    grouped(type, 16, 1024, 2048);
    entropy(type, 4096, 256, 384);
    entropy(type, 256, 50257, 768);
  }
}
