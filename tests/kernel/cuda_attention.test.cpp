#include "torch_catch.hpp"

#include "gradcheck.hpp"
#include "host_launcher.hpp"
#include "tested_device.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/cuda/attention.hpp>
#include <redco/kernel/gathered_attention.hpp>
#include <redco/kernel/lookup.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/saved_watch.hpp>
#include <redco/diag/error.hpp>

#include <ATen/Parallel.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Attention of CUDA devices, on the host: blocks of scores with kernels of device text, and the flash operators by stand-ins.

namespace {

using namespace redco;
using gradcheck::tensors;
using kernel::attention_options;
using kernel::cuda::attention_tensors;
using kernel::cuda::attention_way;

at::Tensor device_wave(std::vector<std::int64_t> const& sizes, double phase) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase) - 0.2;
}

/// The flash operators by their definition, with what they demand of their operands; and small blocks of scores.
class stand_in : public kernel::cuda::attention_device {
 public:
  explicit stand_in(std::int64_t bytes, bool flash = true) : bytes_(bytes), flash_(flash) {}

  bool has_flash(at::Device) const override { return flash_; }
  std::int64_t score_bytes() const override { return bytes_; }

  std::array<at::Tensor, 2> flash(kernel::cuda::flash_operands const& x) const override {
    ++forwards;
    auto const scores = scores_of(x);
    auto const lse = scores.logsumexp(-1);
    auto const out = at::matmul((scores - lse.unsqueeze(-1)).exp(), wide(x.v, x.q.size(2)));
    auto const rows_first = out.to(at::kBFloat16).transpose(1, 2);
    return {x.causal ? rows_first.contiguous() : rows_first, lse};
  }

  std::array<at::Tensor, 3> flash_backward(kernel::cuda::flash_operands const& x, at::Tensor const& grad,
                                           at::Tensor const& out, at::Tensor const& lse) const override {
    ++backwards;
    for (at::Tensor const& y : {grad, out}) demand(y.is_contiguous() && y.sizes() == x.q.sizes());
    demand(lse.is_contiguous() && lse.scalar_type() == at::kFloat);
    std::int64_t const heads = x.q.size(2), kv_heads = x.k.size(2);
    auto const g = wide(grad, heads), p = (scores_of(x) - lse.unsqueeze(-1)).exp();
    auto const delta = (g * wide(out, heads)).sum(-1, true);
    auto const ds = p * (at::matmul(g, wide(x.v, heads).transpose(2, 3)) - delta) * x.scale;
    auto const narrowed = [&](at::Tensor const& y) {
      return y.unflatten(1, {kv_heads, heads / kv_heads}).sum(2).transpose(1, 2).to(at::kBFloat16);
    };
    return {at::matmul(ds, wide(x.k, heads)).transpose(1, 2).to(at::kBFloat16),
            narrowed(at::matmul(ds.transpose(2, 3), wide(x.q, heads))), narrowed(at::matmul(p.transpose(2, 3), g))};
  }

  mutable int forwards = 0, backwards = 0;

 private:
  static void demand(bool holds) {
    if (!holds) throw error(exit_code::internal, "the flash operators do not take this");
  }

  static at::Tensor wide(at::Tensor const& x, std::int64_t heads) {
    return x.to(at::kFloat).transpose(1, 2).repeat_interleave(heads / x.size(2), 1);
  }

  static at::Tensor scores_of(kernel::cuda::flash_operands const& x) {
    std::int64_t const d = x.q.size(3);
    demand(d % 8 == 0 && x.q.size(2) % x.k.size(2) == 0 && x.k.sizes() == x.v.sizes());
    for (at::Tensor const& y : {x.q, x.k, x.v}) {
      demand(y.dim() == 4 && y.size(3) == d && y.scalar_type() == at::kBFloat16 && y.stride(3) == 1);
      demand(reinterpret_cast<std::uintptr_t>(y.const_data_ptr()) % 16 == 0);
      for (int dim = 0; dim < 3; ++dim) demand(y.stride(dim) % 8 == 0);
    }
    demand(!x.causal || x.q.size(1) == x.k.size(1));
    auto scores = at::matmul(wide(x.q, x.q.size(2)), wide(x.k, x.q.size(2)).transpose(2, 3)) * x.scale;
    if (x.causal) scores.masked_fill_(at::ones({x.q.size(1), x.k.size(1)}, at::kBool).triu(1), -INFINITY);
    return scores;
  }

  std::int64_t bytes_;
  bool flash_;
};

/// Many small products wait for threads more than they compute.
struct one_thread {
  int before = at::get_num_threads();
  one_thread() { at::set_num_threads(1); }
  ~one_thread() { at::set_num_threads(before); }
};

/// q, k, v, or qkv alone; then the bias if there is one.
struct device_case {
  std::string name;
  attention_options options;
  tensors inputs;
  bool biased = false;
};

at::Tensor call_of(device_case const& c, tensors const& x) {
  attention_options o = c.options;
  if (c.biased) o.bias = x.back();
  return x.size() < 3 ? kernel::self_attention(x[0], o) : kernel::cross_attention(x[0], x[1], x[2], o);
}

std::vector<device_case> all_device_cases() {
  std::vector<device_case> all;
  auto const apart = [](std::int64_t b, std::int64_t t, std::int64_t s, std::int64_t h, std::int64_t kv,
                        std::int64_t d) {
    return tensors{device_wave({b, t, h * d}, 0.1), device_wave({b, s, kv * d}, 1.3), device_wave({b, s, kv * d}, 2.1)};
  };
  auto const with = [](tensors x, at::Tensor const& bias) { return x.push_back(bias), x; };
  at::Tensor mask = at::ones({3, 23}, at::kBool);
  mask[0].narrow(0, 0, 4).fill_(false);  // with the causal rule queries 0 and 1 see nothing
  mask[1].fill_(false);
  mask[2].narrow(0, 9, 14).fill_(false);
  attention_options const plain{.heads = 4, .kv_heads = 2};
  auto const options = [&](auto const& change) {
    attention_options o = plain;
    change(o);
    return o;
  };
  auto const drop = [](attention_options& o) { o.dropout = 0.3, o.key = {9, 4}, o.row0 = 5, o.head0 = 3; };
  all.push_back({"packed", options([](auto& o) { o.causal = true; }), {device_wave({3, 19, 8 * 5}, 0.4)}});
  all.push_back(
      {"one key-value head", {.heads = 3, .kv_heads = 1, .causal = true}, {device_wave({2, 13, 5 * 3}, 0.4)}});
  all.push_back({"cross", options([](auto& o) { o.scale = 0.7; }), apart(3, 11, 23, 4, 2, 5)});
  all.push_back(
      {"causal behind a cache", options([](auto& o) { o.causal = true, o.query0 = 12; }), apart(3, 11, 23, 4, 2, 5)});
  all.push_back(
      {"one query behind a cache", options([](auto& o) { o.causal = true, o.query0 = 22; }), apart(3, 1, 23, 4, 2, 5)});
  all.push_back({"window",
                 options([&](auto& o) { o.causal = true, o.window = 5, drop(o); }),
                 {device_wave({3, 19, 8 * 5}, 0.4)}});
  all.push_back({"window that is not causal", options([](auto& o) { o.window = 6; }), apart(3, 19, 23, 4, 2, 5)});
  all.push_back({"mask", options([&](auto& o) { o.key_mask = mask; }), apart(3, 11, 23, 4, 2, 5)});
  all.push_back({"mask, causal, dropout",
                 options([&](auto& o) { o.causal = true, o.query0 = 2, o.key_mask = mask, drop(o); }),
                 apart(3, 21, 23, 4, 2, 5)});
  all.push_back({"bias of each example", options([&](auto& o) { o.key_mask = mask; }),
                 with(apart(3, 11, 23, 4, 2, 5), device_wave({3, 4, 11, 23}, 0.6)), true});
  all.push_back({"shared bias that lies otherwise", options([&](auto& o) { o.causal = true, o.query0 = 12, drop(o); }),
                 with(apart(3, 11, 23, 4, 2, 5), device_wave({11, 23, 4}, 0.6).permute({2, 0, 1}).unsqueeze(0)), true});
  all.push_back({"bias by distance", options([&](auto& o) {
                   o.distance0 = 25, o.query0 = 3, o.window = 17, o.causal = true, o.key_mask = mask;
                 }),
                 with(apart(3, 20, 23, 4, 2, 5), device_wave({4, 49}, 0.6)), true});
  return all;
}

struct device_results {
  at::Tensor value;
  tensors gradients;
};

device_results results_of(device_case const& c, at::ScalarType type) {
  tensors leaves;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    bool const f32_bias = c.biased && i + 1 == c.inputs.size() && c.inputs[i].dim() == 2;
    leaves.push_back(c.inputs[i].to(f32_bias ? at::kFloat : type).detach().clone().requires_grad_());
  }
  at::Tensor const y = call_of(c, leaves), g = gradcheck::weights_for(y.detach().to(at::kDouble), 0.4).to(type);
  return {y.detach(), torch::autograd::grad({y}, leaves, {g})};
}

device_results reference_of(device_case const& c, at::ScalarType type) {
  forced_kernel_set const composed(kernel_set::composed);
  return results_of(c, type);
}

double device_apart(at::Tensor const& a, at::Tensor const& b) {
  REQUIRE(a.sizes() == b.sizes());
  REQUIRE(a.scalar_type() == b.scalar_type());
  double const difference = ((a - b).to(at::kDouble).abs().max() / (1 + b.to(at::kDouble).abs().max())).item<double>();
  return std::isnan(difference) ? 1e300 : difference;
}

void check_alike(device_results const& ours, device_results const& reference, double bound) {
  CHECK(ours.value.is_contiguous());
  CHECK(device_apart(ours.value, reference.value) < bound);
  for (std::size_t i = 0; i < ours.gradients.size(); ++i) {
    CAPTURE(i);
    CHECK(device_apart(ours.gradients[i], reference.gradients[i]) < bound);
  }
}

}  // namespace

TEST_CASE("attention in blocks of scores of any size gives what the reference and the CPU's kernels give") {
  one_thread const quiet;
  forced_kernel_set const fast(kernel_set::fastest);
  for (device_case const& c : all_device_cases())
    for (auto const& [type, bound] : {std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 3e-2)}) {
      device_results const of_cpu = results_of(c, type), reference = reference_of(c, type);
      // Of 4 heads and 23 keys a query has 368 bytes of scores: single queries, some, all of an example, of two, everything.
      for (auto const& [bytes, threads] :
           {std::pair(1, 1u), std::pair(2000, 1u), std::pair(9000, 2u), std::pair(16000, 1u), std::pair(1 << 20, 1u)}) {
        INFO(c.name << " " << type << ", " << bytes << " bytes, " << threads << " threads");
        host_launcher launcher(threads, 5);
        kernel_launcher::forced const forced(launcher);
        stand_in const device(bytes);
        kernel::cuda::attention_device::forced const small(device);
        device_results const ours = results_of(c, type);
        check_alike(ours, reference, bound);
        check_alike(ours, of_cpu, bound);
        CHECK(launcher.runs().at("attention_probabilities") > 0);
        CHECK(launcher.runs().at("attention_score_gradients") == launcher.runs().at("attention_probabilities"));
        CHECK(device.forwards == 0);
      }
    }
}

TEST_CASE("blocks of scores hold what fits in their bytes, in whole examples where these fit") {
  using kernel::cuda::extent_of_scores;
  using kernel::cuda::score_extent;
  std::int64_t constexpr bytes = std::int64_t{64} << 20;
  STATIC_REQUIRE(extent_of_scores(8, 32, 2048, 2048, bytes) == score_extent{1, 256});
  STATIC_REQUIRE(extent_of_scores(64, 12, 128, 128, bytes) == score_extent{64, 128});
  STATIC_REQUIRE(extent_of_scores(512, 12, 128, 128, bytes) == score_extent{85, 128});
  STATIC_REQUIRE(extent_of_scores(4, 32, 100000, 3000, bytes) == score_extent{1, 128});  // 174 would fit
  STATIC_REQUIRE(extent_of_scores(4, 32, 1, 131072, bytes) == score_extent{4, 1});
  STATIC_REQUIRE(extent_of_scores(4, 64, 9, 1 << 20, bytes) == score_extent{1, 1});  // four times as much
}

TEST_CASE("attention in blocks of scores drops what the CPU's kernels drop, to the bit") {
  one_thread const quiet;
  forced_kernel_set const fast(kernel_set::fastest);
  // Equal scores and values that are a unit matrix: the output is the probabilities.
  constexpr std::int64_t keys = 41, heads = 3;
  for (auto const type : {at::kFloat, at::kBFloat16})
    for (std::int64_t const window : {0, 7}) {
      at::Tensor const q = at::zeros({2, 29, heads * keys}, type), k = at::zeros({2, keys, keys}, type);
      at::Tensor const v = at::eye(keys, at::TensorOptions(type)).expand({2, keys, keys}).contiguous();
      attention_options const o{.heads = heads,
                                .causal = true,
                                .window = window,
                                .dropout = 0.37,
                                .key = {5, 77},
                                .row0 = (std::int64_t{1} << 32) - 1,
                                .head0 = 11,
                                .query0 = 12};
      at::Tensor const expected = kernel::cross_attention(q, k, v, o).ne(0);
      host_launcher launcher(3);
      kernel_launcher::forced const forced(launcher);
      stand_in const device(3000);
      kernel::cuda::attention_device::forced const small(device);
      CHECK(at::equal(kernel::cross_attention(q, k, v, o).ne(0), expected));
      CHECK(launcher.runs().at("attention_probabilities") > 1);
    }
}

TEST_CASE("scores that are no numbers stay none") {
  forced_kernel_set const fast(kernel_set::fastest);
  host_launcher launcher(4);
  kernel_launcher::forced const forced(launcher);
  at::Tensor const q = at::ones({1, 5, 6}), k = at::ones({1, 5, 6}), v = at::ones({1, 5, 6});
  q[0][3].fill_(NAN);
  attention_options o{.heads = 2, .kv_heads = 2, .causal = true};
  for (bool const masked : {false, true}) {
    if (masked) o.key_mask = at::ones({1, 5}, at::kBool);
    at::Tensor const rows = kernel::cross_attention(q, k, v, o).isnan().all(-1);
    CHECK(at::equal(rows, at::tensor({0, 0, 0, 1, 0}).to(at::kBool).view({1, 5})));
  }
}

TEST_CASE("who computes attention of a CUDA device") {
  stand_in const device(1 << 20), old(1 << 20, false);
  auto const way = [&](std::int64_t queries, std::int64_t keys, std::int64_t width, attention_options const& o,
                       at::ScalarType type = at::kBFloat16) {
    auto const part = [&](std::int64_t rows, std::int64_t heads) { return at::empty({2, rows, heads * width}, type); };
    return kernel::cuda::attention_way_of(
        {part(queries, o.heads), part(keys, o.kv_heads), part(keys, o.kv_heads), o.bias, o.key_mask}, o);
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
  CHECK(way(1, 17, 64, changed(causal, [](auto& o) { o.query0 = 16; })) == flash);  // it sees all keys
  CHECK(way(1, 17, 64, changed(causal, [](auto& o) { o.query0 = 15; })) == blocks);
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.window = 9; })) == flash);  // nothing is so far away
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.window = 8; })) == blocks);
  CHECK(way(9, 9, 64, changed(causal, [](auto& o) { o.dropout = 0.1; })) == blocks);
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

TEST_CASE("attention gives the flash operators what they take, and packs what they give") {
  forced_kernel_set const fast(kernel_set::fastest);
  attention_options const grouped{.heads = 6, .kv_heads = 2, .causal = true};
  attention_options open = grouped, late = grouped, wide = grouped;
  open.causal = false, open.scale = 0.4;
  late.query0 = 22;
  wide.heads = wide.kv_heads = 1;
  auto const parts = [](std::int64_t queries, std::int64_t keys) {
    return tensors{device_wave({2, queries, 6 * 8}, 0.1), device_wave({2, keys, 2 * 8}, 1.3),
                   device_wave({2, keys, 2 * 8}, 2.1)};
  };
  std::vector<device_case> const cases{{"packed", grouped, {device_wave({2, 19, 10 * 8}, 0.4)}},
                                       {"one head", wide, {device_wave({2, 19, 3 * 16}, 0.4)}},
                                       {"cross", open, parts(11, 23)},
                                       {"separate", grouped, parts(23, 23)},
                                       {"one query behind a cache", late, parts(1, 23)}};
  for (device_case const& c : cases) {
    INFO(c.name);
    device_results const reference = reference_of(c, at::kBFloat16);
    host_launcher launcher(1);
    kernel_launcher::forced const forced(launcher);
    stand_in const device(1);
    kernel::cuda::attention_device::forced const here(device);
    check_alike(results_of(c, at::kBFloat16), reference, 1e-2);
    CHECK(device.forwards == 1);
    CHECK(device.backwards == 1);
    CHECK(launcher.runs().empty());
    tensors leaves;
    for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(at::kBFloat16).requires_grad_());
    CHECK_NOTHROW(call_of(c, leaves).mul_(2));
  }
}

TEST_CASE("the flash operators are given parts of a cache, aligned") {
  forced_kernel_set const fast(kernel_set::fastest);
  host_launcher launcher(1);
  kernel_launcher::forced const forced(launcher);
  stand_in const device(1);
  kernel::cuda::attention_device::forced const here(device);
  attention_options const o{.heads = 2, .kv_heads = 1};
  at::Tensor const q = device_wave({3, 2, 5, 16}, 0.2).to(at::kBFloat16);
  for (auto const& [rows, first] : {std::pair(24, 0), std::pair(24, 8), std::pair(24, 3), std::pair(23, 0)}) {
    INFO(rows << " columns from " << first);
    at::Tensor const cache = device_wave({2, 9, rows}, 0.7).to(at::kBFloat16);
    at::Tensor const k = cache.narrow(1, 1, 7).narrow(2, first, 8), v = cache.narrow(1, 2, 7).narrow(2, first, 8);
    at::Tensor const y = kernel::cross_attention(q[1], k, v, o), turned = kernel::cross_attention(q[1], v, k, o);
    forced_kernel_set const composed(kernel_set::composed);
    CHECK(device_apart(y, kernel::cross_attention(q[1], k, v, o)) < 1e-2);
    CHECK(device_apart(turned, kernel::cross_attention(q[1], v, k, o)) < 1e-2);
  }
  CHECK(device.forwards == 8);
}

TEST_CASE("attention of CUDA devices saves what that of CPUs saves, and nothing else") {
  forced_kernel_set const fast(kernel_set::fastest);
  using slots = std::vector<std::pair<std::string, std::int64_t>>;
  std::vector<device_case> cases = all_device_cases();
  cases.push_back({"flash, packed", {.heads = 4, .kv_heads = 2, .causal = true}, {device_wave({2, 19, 8 * 8}, 0.4)}});
  for (device_case const& c : cases) {
    INFO(c.name);
    auto const saved = [&] {
      tensors leaves;
      for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(at::kBFloat16).clone().requires_grad_());
      saved_watch watch;
      at::Tensor const y = call_of(c, leaves);
      slots all;
      for (auto const& entry : watch.entries()) all.emplace_back(entry.slot, entry.bytes());
      return all;
    };
    slots const expected = saved();
    CHECK(expected.size() >= 3);
    host_launcher launcher(1);
    kernel_launcher::forced const forced(launcher);
    stand_in const device(2000);
    kernel::cuda::attention_device::forced const here(device);
    CHECK(saved() == expected);
    CHECK(device.forwards == (c.name == "flash, packed"));
  }
}

TEST_CASE("second derivatives of attention on CUDA devices are those of the reference") {
  one_thread const quiet;
  forced_kernel_set const fast(kernel_set::fastest);
  std::vector<device_case> cases = all_device_cases();
  for (device_case const& c : cases) {
    INFO(c.name);
    auto const second = [&] {
      tensors leaves;
      for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(at::kFloat).clone().requires_grad_());
      at::Tensor total = at::zeros({});
      for (at::Tensor const& d : torch::autograd::grad({call_of(c, leaves).square().sum()}, leaves, {}, true, true))
        total = total + (d * gradcheck::weights_for(d.detach(), 0.7)).sum();
      return torch::autograd::grad({total}, leaves);
    };
    tensors expected;
    {
      forced_kernel_set const composed(kernel_set::composed);
      expected = second();
    }
    host_launcher launcher(1);
    kernel_launcher::forced const forced(launcher);
    stand_in const device(2000);
    kernel::cuda::attention_device::forced const here(device);
    tensors const found = second();
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(device_apart(found[i], expected[i]) < 1e-4);
  }
}

TEST_CASE("attention and what decoding has of its own give on a device that is tested what they give on the CPU") {
  one_thread const quiet;
  auto const there = [](at::Tensor const& x) { return x.defined() ? x.to(tested_device()) : x; };
  auto const moved = [&](device_case c) {
    c.options.key_mask = there(c.options.key_mask);
    for (at::Tensor& x : c.inputs) x = there(x.to(at::kFloat));
    return c;
  };
  std::vector<device_case> cases = all_device_cases();
  for (std::int64_t const rows : {64, 200})
    cases.push_back({"long", {.heads = 6, .kv_heads = 2, .causal = true}, {device_wave({2, rows, 10 * 16}, 0.4)}});
  for (device_case const& c : cases)
    for (auto const& [type, bound] : {std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 3e-2)}) {
      INFO(c.name << " " << type);
      device_results found = results_of(moved(c), type);
      found.value = found.value.cpu();
      for (at::Tensor& x : found.gradients) x = x.cpu();
      check_alike(found, results_of(c, type), bound);
    }
  at::Tensor const q = device_wave({3, 1, 16}, 0.1).to(at::kFloat), keys = device_wave({11, 8}, 0.9).to(at::kFloat);
  at::Tensor const places = (at::arange(21) * 5 % 11).to(at::kInt).view({3, 7}),
                   table = device_wave({11, 16}, 0.3).to(at::kFloat);
  attention_options const o{.heads = 4, .kv_heads = 2, .causal = true, .query0 = 6};
  CHECK(device_apart(kernel::gathered_attention(there(q), {there(keys), there(keys), there(places)}, o).cpu(),
                     kernel::gathered_attention(q, {keys, keys, places}, o)) < 1e-5);
  auto const groups = in_process_group::make("one", 1);
  auto const best = [&](auto const& move) {
    return kernel::top_entries(move(q.view({3, 16})), {move(table), {}, 11, 0}, 4, *groups.front());
  };
  auto const same = [](at::Tensor const& x) { return x; };
  CHECK(at::equal(best(there).entries.cpu(), best(same).entries.cpu()));
  CHECK(device_apart(best(there).logits.cpu(), best(same).logits) < 1e-5);
  CHECK(at::equal(kernel::lookup(there(table), there(places.to(at::kLong)), 0, 11, 2).cpu(),
                  kernel::lookup(table, places.to(at::kLong), 0, 11, 2)));
}

TEST_CASE("attention refuses a mask, a bias and keys of another device") {
  at::Tensor const q = at::zeros({2, 3, 8}), elsewhere = at::zeros({2, 3, 8}, at::kMeta);
  attention_options o{.heads = 2, .kv_heads = 2};
  CHECK_THROWS_AS(kernel::cross_attention(q, elsewhere, q, o), error);
  CHECK_THROWS_AS(kernel::cross_attention(q, q, elsewhere, o), error);
  o.key_mask = at::ones({2, 3}, at::TensorOptions(at::kBool).device(at::kMeta));
  CHECK_THROWS_AS(kernel::cross_attention(q, q, q, o), error);
  o.key_mask.reset(), o.bias = at::zeros({1, 2, 3, 3}, at::kMeta);
  CHECK_THROWS_AS(kernel::cross_attention(q, q, q, o), error);
}
