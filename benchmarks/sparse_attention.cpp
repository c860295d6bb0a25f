// Measures the CPU kernel of sparse attention with mGPT's pattern, forward and backward, against
// our dense causal kernel and against ATen's scaled_dot_product_attention with a mask, in turns in
// one run. Prints one JSON line with median times per sequence length and dtype. `blocks`: share of
// the blocks of causal attention that the kernel computes, counted in the run.

#include <redco/kernel/attention.hpp>
#include <redco/kernel/cpu/sparse_walk.hpp>
#include <redco/layer/block_pattern.hpp>

#include <ATen/Parallel.h>

#include "timing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

namespace {

using redco::kernel::attention_options;

constexpr std::int64_t heads = 12, width = 64;
constexpr redco::layers::block_pattern pattern{.block = 16, .local = 8, .global = 1, .patterns = 8};

/// Returns the mask of ATen's attention: 0 for keys that a query sees, else -infinity.
at::Tensor mask_of(std::int64_t length, at::ScalarType type) {
  at::Tensor const mask = at::full({1, heads, length, length}, -std::numeric_limits<double>::infinity(), at::kFloat);
  auto* to = mask.mutable_data_ptr<float>();
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t i = 0; i < length; ++i, to += length)
      for (std::int64_t j = 0; j <= i; ++j)
        if (pattern.has(h, i / pattern.block, j / pattern.block)) to[j] = 0;
  return mask.to(type);
}

void compare(at::ScalarType type, std::int64_t length, int turns) {
  std::int64_t const batch = std::max<std::int64_t>(1, 2048 / length);
  at::Tensor const qkv = at::randn({batch, length, 3 * heads * width}).to(type).requires_grad_();
  at::Tensor const grad = at::randn({batch, length, heads * width}).to(type), mask = mask_of(length, type);
  attention_options const dense{.heads = heads, .kv_heads = heads, .causal = true};
  attention_options sparse = dense;
  sparse.pattern = pattern;
  auto const run = [&](auto const& forward) { torch::autograd::grad({forward()}, {qkv}, {grad}); };
  auto const masked = [&] {
    auto const parts = qkv.view({batch, length, 3, heads, width}).permute({2, 0, 3, 1, 4});
    return at::scaled_dot_product_attention(parts[0], parts[1], parts[2], mask).transpose(1, 2).flatten(2);
  };
  std::int64_t const before = redco::kernel::cpu::touched_blocks();
  double const apart = (redco::kernel::self_attention(qkv, sparse) - masked()).abs().max().item<double>();
  std::int64_t const blocks = length / pattern.block, touched = redco::kernel::cpu::touched_blocks() - before;
  std::array<std::vector<double>, 3> times;
  for (int turn = -1; turn < turns; ++turn) {
    std::array const one{milliseconds([&] { run([&] { return redco::kernel::self_attention(qkv, sparse); }); }),
                         milliseconds([&] { run([&] { return redco::kernel::self_attention(qkv, dense); }); }),
                         milliseconds([&] { run(masked); })};
    for (std::size_t i = 0; i < one.size() && turn >= 0; ++i) times[i].push_back(one[i]);
  }
  double const ours = median(times[0]), of_dense = median(times[1]), aten = median(times[2]);
  std::printf(
      R"({"kernel": "sparse attention", "dtype": "%s", "T": %lld, "B": %lld, "H": %lld, "D": %lld, "threads": %d, )"
      R"("blocks": %.4f, "apart": %.1e, "ms": %.2f, "dense_ms": %.2f, "masked_aten_ms": %.2f, "over_dense": %.2f, )"
      R"("over_masked_aten": %.2f})"
      "\n",
      type == at::kFloat ? "f32" : "bf16", static_cast<long long>(length), static_cast<long long>(batch),
      static_cast<long long>(heads), static_cast<long long>(width), at::get_num_threads(),
      static_cast<double>(touched) / static_cast<double>(batch * heads * blocks * (blocks + 1) / 2), apart, ours,
      of_dense, aten, of_dense / ours, aten / ours);
  std::fflush(stdout);
}

}  // namespace

int main() {
  for (auto const type : {at::kFloat, at::kBFloat16})
    for (std::int64_t const length : {512, 1024, 2048, 4096}) compare(type, length, length > 2048 ? 5 : 9);
}
