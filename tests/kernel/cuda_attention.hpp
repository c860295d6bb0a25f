#pragma once

// Attention of CUDA devices on the CPU: stand-ins for the flash operators, and functions that
// several tests share.

#include "torch_catch.hpp"

#include "gradcheck.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/cuda/attention.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/upload.hpp>
#include <redco/diag/error.hpp>

#include <ATen/Parallel.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cuda_attention_test {

using namespace redco;
using gradcheck::tensor_list;
using kernel::attention_options;
using kernel::cuda::attention_tensors;
using kernel::cuda::attention_way;

inline at::Tensor device_wave(std::vector<std::int64_t> const& sizes, double phase) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase) - 0.2;
}

/// A stand-in that computes the flash operators by their definition and checks their demands on
/// operands. It uses small blocks of scores.
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

/// Limits libtorch to one thread, because many small products wait for threads longer than they
/// compute.
struct one_thread {
  int before = at::get_num_threads();
  one_thread() { at::set_num_threads(1); }
  ~one_thread() { at::set_num_threads(before); }
};

/// A case whose inputs are q, k, v, or qkv alone, then the bias or the sinks if there are any.
struct device_case {
  std::string name;
  attention_options options;
  tensor_list inputs;
  bool biased = false, sunk = false;
};

inline at::Tensor call_of(device_case const& c, tensor_list const& x) {
  attention_options o = c.options;
  if (c.biased) o.bias = x.back();
  if (c.sunk) o.sinks = x.back();
  return x.size() < 3 ? kernel::self_attention(x[0], o) : kernel::cross_attention(x[0], x[1], x[2], o);
}

inline std::vector<device_case> all_device_cases() {
  std::vector<device_case> all;
  auto const apart = [](std::int64_t b, std::int64_t t, std::int64_t s, std::int64_t h, std::int64_t kv,
                        std::int64_t d) {
    return tensor_list{device_wave({b, t, h * d}, 0.1), device_wave({b, s, kv * d}, 1.3),
                       device_wave({b, s, kv * d}, 2.1)};
  };
  auto const with = [](tensor_list x, at::Tensor const& bias) { return x.push_back(bias), x; };
  at::Tensor mask = at::ones({3, 23}, at::kBool);
  mask[0].narrow(0, 0, 4).fill_(false);  // under the causal rule queries 0 and 1 then see no key
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
  at::Tensor const documents = at::arange(19).remainder(7).repeat({3, 1});
  documents[1].copy_(at::arange(19));
  documents[2].narrow(0, 7, 12).copy_(at::arange(12));
  all.push_back({"documents",
                 options([&](auto& o) { o.causal = true, o.documents = documents, drop(o); }),
                 {device_wave({3, 19, 8 * 5}, 0.4)}});
  all.push_back({"cross", options([](auto& o) { o.scale = 0.7; }), apart(3, 11, 23, 4, 2, 5)});
  all.push_back(
      {"causal after a cache", options([](auto& o) { o.causal = true, o.query0 = 12; }), apart(3, 11, 23, 4, 2, 5)});
  all.push_back(
      {"one query after a cache", options([](auto& o) { o.causal = true, o.query0 = 22; }), apart(3, 1, 23, 4, 2, 5)});
  all.push_back({"window",
                 options([&](auto& o) { o.causal = true, o.window = 5, drop(o); }),
                 {device_wave({3, 19, 8 * 5}, 0.4)}});
  all.push_back({"window that is not causal", options([](auto& o) { o.window = 6; }), apart(3, 19, 23, 4, 2, 5)});
  all.push_back({"soft cap, window",
                 options([&](auto& o) { o.causal = true, o.soft_cap = 0.4, o.window = 6, drop(o); }),
                 {device_wave({3, 19, 8 * 5}, 0.4)}});
  all.push_back(
      {"soft cap, mask", options([&](auto& o) { o.soft_cap = 0.3, o.key_mask = mask; }), apart(3, 11, 23, 4, 2, 5)});
  all.push_back({"soft cap, bias", options([&](auto& o) { o.soft_cap = 0.3, o.key_mask = mask; }),
                 with(apart(3, 11, 23, 4, 2, 5), device_wave({1, 4, 11, 23}, 0.6)), true});
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
  all.push_back({"pattern of blocks",
                 options([&](auto& o) {
                   o.causal = true, o.pattern = {2, 4, 1, 4}, drop(o);
                 }),
                 {device_wave({3, 19, 8 * 5}, 0.4)}});
  all.push_back({"sliding band, mask, window", options([&](auto& o) {
                   o.causal = true, o.query0 = 12, o.pattern = {.block = 3, .local = 2, .sliding = true};
                   o.key_mask = mask, o.window = 5;
                 }),
                 apart(3, 11, 23, 4, 2, 5)});
  all.push_back({"sinks, soft cap",
                 options([&](auto& o) { o.causal = true, o.soft_cap = 0.7, drop(o); }),
                 {device_wave({3, 19, 8 * 5}, 0.4), device_wave({4}, 0.8)},
                 false,
                 true});
  // Heads of a width that flash operators support
  all.push_back({"pattern of blocks, 8 features",
                 options([](auto& o) {
                   o.causal = true, o.pattern = {4, 2, 1, 2};
                 }),
                 {device_wave({3, 19, 8 * 8}, 0.4)}});
  all.push_back({"sinks, 8 features",
                 options([](auto& o) { o.causal = true; }),
                 {device_wave({3, 19, 8 * 8}, 0.4), device_wave({4}, 0.8)},
                 false,
                 true});
  all.push_back({"sinks, pattern of blocks, mask", options([&](auto& o) {
                   o.causal = true, o.query0 = 2, o.pattern = {1, 3, 1, 2}, o.key_mask = mask, o.head0 = 3;
                 }),
                 with(apart(3, 21, 23, 4, 2, 5), device_wave({4}, 0.8) * 3), false, true});
  return all;
}

struct device_results {
  at::Tensor value;
  tensor_list gradients;
};

/// Returns a case with all its tensors on `device`.
inline device_case moved_to(at::Device device, device_case c) {
  redco::tensors::for_each_tensor(c, [device](at::Tensor& x) { x = x.to(device); });
  return c;
}

inline device_results results_of(device_case const& c, at::ScalarType type) {
  tensor_list leaves;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    bool const f32_bias = c.biased && i + 1 == c.inputs.size() && c.inputs[i].dim() == 2;
    leaves.push_back(c.inputs[i].to(f32_bias ? at::kFloat : type).detach().clone().requires_grad_());
  }
  at::Tensor const y = call_of(c, leaves), g = gradcheck::weights_for(y.detach().to(at::kDouble), 0.4).to(type);
  return {y.detach(), torch::autograd::grad({y}, leaves, {g})};
}

inline device_results reference_of(device_case const& c, at::ScalarType type) {
  redco::tensors::forced_kernel_set const composed(redco::tensors::kernel_set::composed);
  return results_of(c, type);
}

inline double device_apart(at::Tensor const& a, at::Tensor const& b) {
  REQUIRE(a.sizes() == b.sizes());
  REQUIRE(a.scalar_type() == b.scalar_type());
  double const difference = ((a - b).to(at::kDouble).abs().max() / (1 + b.to(at::kDouble).abs().max())).item<double>();
  return std::isnan(difference) ? 1e300 : difference;
}

inline void check_alike(device_results const& ours, device_results const& reference, double bound) {
  CHECK(ours.value.is_contiguous());
  CHECK(device_apart(ours.value, reference.value) < bound);
  for (std::size_t i = 0; i < ours.gradients.size(); ++i) {
    CAPTURE(i);
    CHECK(device_apart(ours.gradients[i], reference.gradients[i]) < bound);
  }
}

}  // namespace cuda_attention_test
