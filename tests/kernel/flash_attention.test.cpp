#include "cuda_attention.hpp"

#include "cpu_launcher.hpp"

#include <redco/tensor/kernel_launcher.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace cuda_attention_test;

}  // namespace

TEST_CASE("attention on a CUDA device uses flash operators or blocks according to shapes, options and device") {
  stand_in const device(1 << 20), old(1 << 20, false);
  auto const way = [&](std::int64_t queries, std::int64_t keys, std::int64_t width, attention_options const& o,
                       at::ScalarType type = at::kBFloat16) {
    auto const part = [&](std::int64_t rows, std::int64_t heads) { return at::empty({2, rows, heads * width}, type); };
    return kernel::cuda::attention_way_of(
        {part(queries, o.heads), part(keys, o.kv_heads), part(keys, o.kv_heads), o.bias, o.key_mask, o.sinks}, o);
  };
  attention_options const plain{.heads = 4, .kv_heads = 2}, causal{.heads = 4, .kv_heads = 2, .causal = true};
  auto const changed = [](attention_options o, auto const& change) { return change(o), o; };
  kernel::cuda::attention_device::forced const forced(device);
  auto const flash = attention_way::flash, blocks = attention_way::blocks;
  CHECK(way(9, 9, 64, causal) == flash);
  CHECK(way(9, 9, 64, plain) == flash);
  CHECK(way(9, 17, 128, plain) == flash);
  CHECK(way(9, 9, 64, causal, at::kFloat) == blocks);
  CHECK(way(9, 17, 64, causal) == blocks);
  CHECK(way(9, 17, 64, changed(causal, [](auto& o) { o.query0 = 8; })) == blocks);
  // The only query sees all keys
  CHECK(way(1, 17, 64, changed(causal, [](auto& o) { o.query0 = 16; })) == flash);
  CHECK(way(1, 17, 64, changed(causal, [](auto& o) { o.query0 = 15; })) == blocks);
  // The window holds all keys
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.window = 9; })) == flash);
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.window = 8; })) == blocks);
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.dropout = 0.1; })) == blocks);
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.soft_cap = 50; })) == blocks);
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.key_mask = at::ones({2, 9}, at::kBool); })) == blocks);
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.bias = at::zeros({4, 17}); })) == blocks);
  CHECK(way(0, 9, 64, plain) == blocks);
  for (auto const& [width, expected] :
       {std::pair(8, flash), std::pair(12, blocks), std::pair(192, flash), std::pair(200, blocks),
        std::pair(232, flash), std::pair(256, flash), std::pair(264, blocks)}) {
    INFO(width);
    CHECK(way(9, 9, width, causal) == expected);
  }
  kernel::cuda::attention_device::forced const without(old);
  CHECK(way(9, 9, 64, causal) == blocks);
}

TEST_CASE("attention prepares inputs for the flash operators and packs their results") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  attention_options const grouped{.heads = 6, .kv_heads = 2, .causal = true};
  attention_options open = grouped, late = grouped, wide = grouped;
  open.causal = false, open.scale = 0.4;
  late.query0 = 22;
  wide.heads = wide.kv_heads = 1;
  auto const parts = [](std::int64_t queries, std::int64_t keys) {
    return tensor_list{device_wave({2, queries, 6 * 8}, 0.1), device_wave({2, keys, 2 * 8}, 1.3),
                       device_wave({2, keys, 2 * 8}, 2.1)};
  };
  std::vector<device_case> const cases{{"packed", grouped, {device_wave({2, 19, 10 * 8}, 0.4)}},
                                       {"one head", wide, {device_wave({2, 19, 3 * 16}, 0.4)}},
                                       {"cross", open, parts(11, 23)},
                                       {"separate", grouped, parts(23, 23)},
                                       {"one query after a cache", late, parts(1, 23)}};
  for (device_case const& c : cases) {
    INFO(c.name);
    device_results const reference = reference_of(c, at::kBFloat16);
    cpu_launcher launcher(1);
    redco::tensors::kernel_launcher::forced const forced(launcher);
    stand_in const device(1);
    kernel::cuda::attention_device::forced const here(device);
    check_alike(results_of(c, at::kBFloat16), reference, 1e-2);
    CHECK(device.forwards == 1);
    CHECK(device.backwards == 1);
    CHECK(launcher.runs().empty());
    tensor_list leaves;
    for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(at::kBFloat16).requires_grad_());
    CHECK_NOTHROW(call_of(c, leaves).mul_(2));
  }
}

TEST_CASE("the flash operators get aligned slices of a cache") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  cpu_launcher launcher(1);
  redco::tensors::kernel_launcher::forced const forced(launcher);
  stand_in const device(1);
  kernel::cuda::attention_device::forced const here(device);
  attention_options const o{.heads = 2, .kv_heads = 1};
  at::Tensor const q = device_wave({3, 2, 5, 16}, 0.2).to(at::kBFloat16);
  for (auto const& [rows, first] : {std::pair(24, 0), std::pair(24, 8), std::pair(24, 3), std::pair(23, 0)}) {
    INFO(rows << " columns from " << first);
    at::Tensor const cache = device_wave({2, 9, rows}, 0.7).to(at::kBFloat16);
    at::Tensor const k = cache.narrow(1, 1, 7).narrow(2, first, 8), v = cache.narrow(1, 2, 7).narrow(2, first, 8);
    at::Tensor y, turned;
    REQUIRE_NOTHROW(y = kernel::cross_attention(q[1], k, v, o));
    REQUIRE_NOTHROW(turned = kernel::cross_attention(q[1], v, k, o));
    redco::tensors::forced_kernel_set const composed(redco::tensors::kernel_set::composed);
    CHECK(device_apart(y, kernel::cross_attention(q[1], k, v, o)) < 1e-2);
    CHECK(device_apart(turned, kernel::cross_attention(q[1], v, k, o)) < 1e-2);
  }
  CHECK(device.forwards == 8);
}
