#include "cuda_attention.hpp"

#include "cpu_launcher.hpp"
#include "tested_device.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/composed/attention_kernels.hpp>
#include <redco/kernel/cpu/attention.hpp>
#include <redco/kernel/detail/attention_ring.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/shape/sequence_part.hpp>
#include <redco/diag/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace cuda_attention_test;

}  // namespace

TEST_CASE("blockwise attention of any block size gives the results of the reference and of the CPU kernels") {
  one_thread const quiet;
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  for (device_case const& c : all_device_cases())
    for (auto const& [type, bound] : {std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 3e-2)}) {
      device_results const of_cpu = results_of(c, type), reference = reference_of(c, type);
      // A query with 4 heads and 23 keys has 368 bytes of scores. Blocks hold one query, several,
      // one example, two examples, everything.
      for (auto const& [bytes, threads] :
           {std::pair(1, 1u), std::pair(2000, 1u), std::pair(9000, 2u), std::pair(16000, 1u), std::pair(1 << 20, 1u)}) {
        INFO(c.name << " " << type << ", " << bytes << " bytes, " << threads << " threads");
        cpu_launcher launcher(threads, 5);
        redco::tensors::kernel_launcher::forced const forced(launcher);
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

namespace {

using kernel::detail::attention_ring;

/// Returns the partial calls of ring attention of one rank of three.
std::vector<attention_ring::pair> partial_calls(attention_options const& o, std::int64_t tokens) {
  std::vector<attention_ring::pair> all;
  redco::comm::run_ranks({}, {}, [&](redco::rank_context& alone) {
    redco::shape::sequence_part const part{1, 3, tokens};
    attention_ring const ring(o, alone.world, part);
    for (int of = 0; of < 3; ++of)
      for (auto const& one : ring.pairs_with(of)) all.push_back(one);
  });
  return all;
}

/// Returns the output, the log-sum-exp and the gradients of q, k and v of a partial call.
template <class Kernels>
tensor_list partial_results(attention_ring::pair const& call, attention_tensors const& t, at::Tensor const& grad) {
  auto const made = Kernels::forward(t, call.options);
  attention_tensors const into{at::empty_like(t.q), at::empty_like(t.k), at::empty_like(t.v), {}, {}, {}};
  // The log-sum-exp of all keys, of which the call has a part
  at::Tensor const all = at::logaddexp(made.lse, at::full_like(made.lse, 0.3));
  Kernels::backward(t, call.options, {{made.out, all}, grad, false}, into);
  return {made.out, made.lse.exp(), into.q, into.k, into.v};
}

}  // namespace

TEST_CASE("partial calls of device text and CPU kernels have the results and gradients of the reference") {
  one_thread const quiet;
  constexpr std::int64_t tokens = 23, d = 5;
  at::Tensor const mask = at::arange(tokens).remainder(4).ne(2).repeat({2, 1});
  mask[1].narrow(0, 0, 12).fill_(false);
  attention_options plain{.heads = 4, .kv_heads = 2, .causal = true, .dropout = 0.3, .key = {9, 4}, .head0 = 3};
  std::vector<attention_options> cases(4, plain);
  cases[1].key_mask = mask, cases[1].window = 6;
  cases[2].documents = at::arange(tokens).remainder(7).repeat({2, 1}), cases[2].soft_cap = 0.7;
  cases[3].pattern = {2, 2, 1, 2}, cases[3].key_mask = mask;
  for (attention_options const& o : cases)
    for (at::ScalarType const type : {at::kFloat, at::kBFloat16})
      for (attention_ring::pair const& call : partial_calls(o, tokens)) {
        double const bound = type == at::kFloat ? 1e-5 : 3e-2;
        auto const wave = [&](std::int64_t rows, std::int64_t heads, double phase) {
          return device_wave({2, rows, heads * d}, phase).to(type);
        };
        attention_tensors const t{wave(call.queries, 4, 0.1), wave(call.keys, 2, 1.3),
                                  wave(call.keys, 2, 2.1),    {},
                                  call.options.key_mask,      {}};
        at::Tensor const grad = wave(call.queries, 4, 0.7);
        tensor_list const expected = partial_results<kernel::composed::attention_kernels>(call, t, grad);
        auto const check = [&](tensor_list const& found) {
          for (std::size_t i = 0; i < expected.size(); ++i) CHECK(device_apart(found[i], expected[i]) < bound);
        };
        check(partial_results<kernel::cpu::attention_kernels>(call, t, grad));
        cpu_launcher launcher(2, 5);
        redco::tensors::kernel_launcher::forced const forced(launcher);
        stand_in const device(2000);
        kernel::cuda::attention_device::forced const small(device);
        check(partial_results<kernel::cuda::attention_kernels>(call, t, grad));
      }
}

TEST_CASE("blocks of scores fit into their bytes and hold whole examples if possible") {
  using kernel::cuda::extent_of_scores;
  using kernel::cuda::score_extent;
  std::int64_t constexpr bytes = std::int64_t{64} << 20;
  STATIC_REQUIRE(extent_of_scores(8, 32, 2048, 2048, bytes) == score_extent{1, 256});
  STATIC_REQUIRE(extent_of_scores(64, 12, 128, 128, bytes) == score_extent{64, 128});
  STATIC_REQUIRE(extent_of_scores(512, 12, 128, 128, bytes) == score_extent{85, 128});
  // 174 would fit
  STATIC_REQUIRE(extent_of_scores(4, 32, 100000, 3000, bytes) == score_extent{1, 128});
  STATIC_REQUIRE(extent_of_scores(4, 32, 1, 131072, bytes) == score_extent{4, 1});
  // One query needs four times the bytes
  STATIC_REQUIRE(extent_of_scores(4, 64, 9, 1 << 20, bytes) == score_extent{1, 1});
}

TEST_CASE("blockwise attention drops exactly the probabilities that the CPU kernels drop") {
  one_thread const quiet;
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  // Equal scores and values that are a unit matrix: the output is the matrix of probabilities.
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
      cpu_launcher launcher(3);
      redco::tensors::kernel_launcher::forced const forced(launcher);
      stand_in const device(3000);
      kernel::cuda::attention_device::forced const small(device);
      CHECK(at::equal(kernel::cross_attention(q, k, v, o).ne(0), expected));
      CHECK(launcher.runs().at("attention_probabilities") > 1);
    }
}

TEST_CASE("NaN scores stay NaN") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  cpu_launcher launcher(4);
  redco::tensors::kernel_launcher::forced const forced(launcher);
  at::Tensor const q = at::ones({1, 5, 6}), k = at::ones({1, 5, 6}), v = at::ones({1, 5, 6});
  q[0][3].fill_(NAN);
  attention_options o{.heads = 2, .kv_heads = 2, .causal = true};
  for (bool const masked : {false, true}) {
    if (masked) o.key_mask = at::ones({1, 5}, at::kBool);
    at::Tensor const rows = kernel::cross_attention(q, k, v, o).isnan().all(-1);
    CHECK(at::equal(rows, at::tensor({0, 0, 0, 1, 0}).to(at::kBool).view({1, 5})));
  }
}

TEST_CASE("attention on CUDA devices saves exactly the tensors that attention on CPUs saves") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  using slots = std::vector<std::pair<std::string, std::int64_t>>;
  std::vector<device_case> cases = all_device_cases();
  cases.push_back({"flash, packed", {.heads = 4, .kv_heads = 2, .causal = true}, {device_wave({2, 19, 8 * 8}, 0.4)}});
  for (device_case const& c : cases) {
    INFO(c.name);
    auto const saved = [&] {
      tensor_list leaves;
      for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(at::kBFloat16).clone().requires_grad_());
      redco::tensors::saved_watch watch;
      at::Tensor const y = call_of(c, leaves);
      slots all;
      for (auto const& entry : watch.entries()) all.emplace_back(entry.slot, entry.bytes());
      return all;
    };
    slots const expected = saved();
    CHECK(expected.size() >= 3);
    cpu_launcher launcher(1);
    redco::tensors::kernel_launcher::forced const forced(launcher);
    stand_in const device(2000);
    kernel::cuda::attention_device::forced const here(device);
    CHECK(saved() == expected);
    CHECK(device.forwards == (c.name == "flash, packed"));
  }
}

TEST_CASE("second derivatives of attention on CUDA devices equal the reference") {
  one_thread const quiet;
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  std::vector<device_case> cases = all_device_cases();
  for (device_case const& c : cases) {
    INFO(c.name);
    auto const second = [&] {
      tensor_list leaves;
      for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(at::kFloat).clone().requires_grad_());
      at::Tensor total = at::zeros({});
      for (at::Tensor const& d : torch::autograd::grad({call_of(c, leaves).square().sum()}, leaves, {}, true, true))
        total = total + (d * gradcheck::weights_for(d.detach(), 0.7)).sum();
      return torch::autograd::grad({total}, leaves);
    };
    tensor_list expected;
    {
      redco::tensors::forced_kernel_set const composed(redco::tensors::kernel_set::composed);
      expected = second();
    }
    cpu_launcher launcher(1);
    redco::tensors::kernel_launcher::forced const forced(launcher);
    stand_in const device(2000);
    kernel::cuda::attention_device::forced const here(device);
    tensor_list const found = second();
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(device_apart(found[i], expected[i]) < 1e-4);
  }
}

TEST_CASE("a case of attention moves to another device with all its tensors") {
  for (device_case const& c : all_device_cases()) {
    INFO(c.name);
    device_case const moved = moved_to(at::kMeta, c);
    CHECK(moved.options.documents.defined() == c.options.documents.defined());
    for (at::Tensor const& x :
         {moved.options.key_mask, moved.options.documents, moved.inputs.front(), moved.inputs.back()})
      CHECK((!x.defined() || x.is_meta()));
  }
}

TEST_CASE("attention and decoding kernels give the CPU's results on the tested device") {
  one_thread const quiet;
  auto const there = [](at::Tensor const& x) { return x.to(tested_device()); };
  std::vector<device_case> cases = all_device_cases();
  for (std::int64_t const rows : {64, 200})
    cases.push_back({"long", {.heads = 6, .kv_heads = 2, .causal = true}, {device_wave({2, rows, 10 * 16}, 0.4)}});
  for (device_case const& c : cases)
    for (auto const& [type, bound] : {std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 3e-2)}) {
      INFO(c.name << " " << type);
      device_results found = results_of(moved_to(tested_device(), c), type);
      found.value = found.value.cpu();
      for (at::Tensor& x : found.gradients) x = x.cpu();
      check_alike(found, results_of(c, type), bound);
    }
  at::Tensor const q = device_wave({3, 1, 16}, 0.1).to(at::kFloat), keys = device_wave({11, 8}, 0.9).to(at::kFloat);
  at::Tensor const indices = (at::arange(21) * 5 % 11).to(at::kInt).view({3, 7}),
                   table = device_wave({11, 16}, 0.3).to(at::kFloat);
  attention_options const o{.heads = 4, .kv_heads = 2, .causal = true, .query0 = 6};
  CHECK(device_apart(kernel::gathered_attention(there(q), {there(keys), there(keys), there(indices)}, o).cpu(),
                     kernel::gathered_attention(q, {keys, keys, indices}, o)) < 1e-5);
  auto const groups = redco::comm::in_process_group::make("one", 1);
  auto const best = [&](auto const& move) {
    return kernel::top_entries(move(q.view({3, 16})), {move(table), {}, 11, 0}, 4, *groups.front());
  };
  auto const same = [](at::Tensor const& x) { return x; };
  CHECK(at::equal(best(there).entries.cpu(), best(same).entries.cpu()));
  CHECK(device_apart(best(there).logits.cpu(), best(same).logits) < 1e-5);
  CHECK(at::equal(kernel::lookup(there(table), there(indices.to(at::kLong)), 0, 11, 2).cpu(),
                  kernel::lookup(table, indices.to(at::kLong), 0, 11, 2)));
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
