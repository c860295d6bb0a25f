#include "torch_catch.hpp"

#include "cpu_launcher.hpp"
#include "gradcheck.hpp"
#include "tested_device.hpp"

#include <redco/kernel/activations.hpp>
#include <redco/kernel/attention.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/dropout.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/kernel/pools.hpp>
#include <redco/kernel/recurrent.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/random/stream.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Compares the two kernel sets: values, gradients and second derivatives of every operation.

namespace {

using namespace redco;
using gradcheck::tensor_list;

struct set_case {
  std::string name;
  tensor_list inputs;  // f64
  std::function<at::Tensor(tensor_list const&)> call;
};

at::Tensor set_sample(std::vector<std::int64_t> const& sizes, double phase) {
  return gradcheck::weights_for(at::empty(sizes, at::kDouble), phase) - 0.2;
}

kernel::attention_options attention_of(std::int64_t heads, std::int64_t kv_heads) {
  return {.heads = heads, .kv_heads = kv_heads, .causal = true, .dropout = 0.2, .key = {3, 8}, .row0 = 4, .head0 = 2};
}

// Every size is odd and not a multiple of a vector register.
std::vector<set_case> all_set_cases(redco::comm::group& one) {
  using in = tensor_list const&;
  std::vector<set_case> all;
  auto const add = [&](std::string name, tensor_list inputs, std::function<at::Tensor(in)> call) {
    all.push_back({std::move(name), std::move(inputs), std::move(call)});
  };
  at::Tensor const x = set_sample({3, 7, 19}, 0.1), w = set_sample({19}, 1.1), b = set_sample({19}, 2.3);
  add("linear", {x, set_sample({5, 19}, 0.4), set_sample({5}, 0.9)},
      [](in t) { return kernel::linear(t[0], t[1], t[2]); });
  for (auto const& [name, next] : {std::pair("linear and relu", kernel::after_linear::relu),
                                   std::pair("linear and tanh", kernel::after_linear::tanh)})
    add(name, {x, set_sample({5, 19}, 0.4), set_sample({5}, 0.9)},
        [next = next](in t) { return kernel::activated(kernel::linear_before(next, t[0], t[1], t[2]), next); });
  add("layer norm", {x, w, b}, [](in t) { return kernel::layer_norm(t[0], t[1], t[2], 1e-5); });
  add("rms norm", {x, w}, [](in t) { return kernel::rms_norm(t[0], t[1], 1e-6); });
  add("split rms norm", {x, w}, [](in t) { return kernel::split_rms_norm(t[0], t[1], 1e-6, {}, 31); });
  add("rms norm of 1 + weight", {x, w}, [](in t) { return kernel::rms_norm(t[0], t[1], 1e-6, 1); });
  for (std::int64_t const rows : {7, 70}) {  // one block of rows for each example, and two
    at::Tensor const many = set_sample({3, rows, 19}, 0.1);
    add("modulated layer norm", {many, set_sample({3, 1, 38}, 1.3)},
        [](in t) { return kernel::modulated_layer_norm(t[0], t[1], 1e-5); });
    add("gate", {many, set_sample({3, 1, 19}, 0.8)}, [](in t) { return kernel::gated(t[0], t[1]); });
  }
  add("gelu tanh", {x}, [](in t) { return kernel::gelu(t[0]); });
  add("gelu erf", {x}, [](in t) { return kernel::gelu(t[0], kernel::gelu_form::erf); });
  add("gelu logistic", {x}, [](in t) { return kernel::gelu(t[0], kernel::gelu_form::logistic); });
  add("silu", {x}, [](in t) { return kernel::silu(t[0]); });
  add("tanh", {x}, [](in t) { return kernel::tanh(t[0]); });
  add("swiglu", {set_sample({3, 7, 38}, 0.3)}, [](in t) { return kernel::swiglu(t[0]); });
  add("dropout", {x}, [](in t) { return kernel::dropout(t[0], 0.3, random::make_stream(7, 1, 2, 3), 5, 2, 1); });
  at::Tensor const ids = at::tensor({4, 9, 2, 4, 7, 1}, at::kLong).view({2, 3}).to(tested_device());
  add("lookup", {set_sample({11, 5}, 0.6)}, [ids](in t) { return kernel::lookup(t[0], ids, 0, 11, 2); });
  add("lookup of a shard", {set_sample({5, 5}, 0.6)}, [ids](in t) { return kernel::lookup(t[0], ids, 4, 11, 7); });
  for (auto const pairs : {redco::layers::rotary_pairs::halves, redco::layers::rotary_pairs::neighbours})
    add("rotate", {set_sample({2, 3, 23}, 0.2)}, [pairs](in t) {
      kernel::rotation const by{3, 7, {.dims = 4, .theta = 50, .pairs = pairs, .scaling = {}}, 3};
      return kernel::rotate(t[0] * 1, by);
    });
  add("rotate by positions", {set_sample({2, 3, 8}, 0.2)}, [ids](in t) {
    return kernel::rotate(t[0] * 1, {2, 4, {.dims = 4, .scaling = {}}}, ids);
  });
  add("gru", {set_sample({2, 5, 9}, 0.2), set_sample({9, 3}, 1.2), set_sample({9}, 2.2)},
      [](in t) { return kernel::gru(t[0], t[1], t[2]); });
  add("lstm", {set_sample({2, 5, 12}, 0.2), set_sample({12, 3}, 1.2)}, [](in t) { return kernel::lstm(t[0], t[1]); });
  add("batch norm", {set_sample({5, 3, 7}, 0.2), set_sample({3}, 1.2), set_sample({3}, 2.2)}, [](in t) {
    comm::replica_round const alone{};
    return kernel::batch_norm(t[0], t[1], t[2], kernel::batch_statistics_of(t[0], alone), alone, 1e-5);
  });
  add("batch norm of images", {set_sample({3, 5, 3, 13}, 0.2) + 4, set_sample({5}, 1.2), set_sample({5}, 2.2)},
      [](in t) {
        comm::replica_round const alone{};
        return kernel::batch_norm(t[0], t[1], t[2], kernel::batch_statistics_of(t[0], alone), alone, 1e-5);
      });
  for (std::int64_t const window : {2, 3})
    add("max pool", {set_sample({2, 3, 7, 11}, 0.2)}, [window](in t) { return kernel::max_pool(t[0], window); });
  add("self-attention", {set_sample({2, 9, 5 * 4}, 0.2)},
      [](in t) { return kernel::self_attention(t[0], attention_of(3, 1)); });
  add("self-attention with a pattern of blocks and sinks", {set_sample({2, 29, 5 * 4}, 0.2), set_sample({3}, 1.7)},
      [](in t) {
        auto o = attention_of(3, 1);
        o.pattern = {2, 4, 1, 4}, o.soft_cap = 1.3, o.sinks = t[1];
        return kernel::self_attention(t[0], o);
      });
  at::Tensor documents = at::arange(9).remainder(4).repeat({2, 1});
  documents[1].copy_(at::arange(9));
  documents = documents.to(tested_device());
  add("self-attention of documents", {set_sample({2, 9, 5 * 4}, 0.2)}, [documents](in t) {
    auto o = attention_of(3, 1);
    o.causal = true, o.documents = documents;
    return kernel::self_attention(t[0], o);
  });
  add("self-attention of documents with a pattern of blocks", {set_sample({2, 9, 5 * 4}, 0.2)}, [documents](in t) {
    auto o = attention_of(3, 1);
    o.documents = documents, o.pattern = {1, 3, 1, 3};
    return kernel::self_attention(t[0], o);
  });
  at::Tensor const mask = at::ones({2, 9}, at::kBool);
  mask[1].narrow(0, 3, 6).fill_(false);
  mask[0][0].fill_(false);  // query 0 sees nothing
  at::Tensor const seen = mask.to(tested_device());
  add("cross-attention, windows, masks and a bias",
      {set_sample({2, 9, 8}, 0.2), set_sample({2, 9, 4}, 1.2), set_sample({2, 9, 4}, 2.2),
       set_sample({1, 2, 9, 9}, 0.7)},
      [seen](in t) {
        auto o = attention_of(2, 1);
        o.window = 4, o.key_mask = seen, o.bias = t[3];
        return kernel::cross_attention(t[0], t[1], t[2], o);
      });
  add("cross-attention with a pattern, a mask, a bias and sinks",
      {set_sample({2, 9, 8}, 0.2), set_sample({2, 9, 4}, 1.2), set_sample({2, 9, 4}, 2.2),
       set_sample({1, 2, 9, 9}, 0.7), set_sample({2}, 0.9)},
      [seen](in t) {
        auto o = attention_of(2, 1);
        o.pattern = {.block = 2, .local = 2, .sliding = true}, o.key_mask = seen, o.bias = t[3], o.sinks = t[4];
        return kernel::cross_attention(t[0], t[1], t[2], o);
      });
  add("attention with a bias by distance", {set_sample({2, 5, 12}, 0.2), set_sample({2, 13}, 0.8)}, [](in t) {
    auto o = attention_of(2, 2);
    o.causal = false, o.bias = t[1], o.distance0 = 6;
    return kernel::self_attention(t[0], o);
  });
  at::Tensor const labels = at::tensor({4, -100, 0, 10, 7}, at::kLong);
  for (auto const& [name, soft_cap] : {std::pair("cross entropy", 0.0), std::pair("cross entropy, soft cap", 1.4)})
    add(name, {set_sample({5, 3}, 0.2), set_sample({11, 3}, 1.2), set_sample({11}, 2.2)},
        [labels, &one, soft_cap = soft_cap](in t) {
          return kernel::cross_entropy(t[0], {t[1], t[2], 11, 0, soft_cap}, labels, one, {.chunk_rows = 2}).sum;
        });
  at::Tensor const weights = at::arange(11, at::kDouble) * 0.3;
  for (auto const& [smoothing, weighted] : {std::pair(0.3, false), std::pair(0.0, true), std::pair(0.3, true)}) {
    kernel::cross_entropy_options options{.ignored = 7, .chunk_rows = 2, .smoothing = smoothing};
    if (weighted) options.weights = weights;
    at::Tensor const own = labels.masked_fill(labels.eq(-100), 7);
    add("cross entropy with label options", {set_sample({5, 3}, 0.2), set_sample({11, 3}, 1.2), set_sample({11}, 2.2)},
        [own, options, &one](in t) {
          return kernel::cross_entropy(t[0], {t[1], t[2], 11, 0}, own, one, options).sum;
        });
  }
  return all;
}

struct set_results {
  at::Tensor value;
  tensor_list gradients, second;
};

set_results results_in(redco::tensors::kernel_set set, set_case const& c, at::ScalarType type) {
  redco::tensors::forced_kernel_set const forced(set);
  tensor_list leaves;
  for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(tested_device(), type).detach().clone().requires_grad_());
  at::Tensor const y = c.call(leaves), g = gradcheck::weights_for(y.detach().to(at::kDouble), 0.4).to(y.scalar_type());
  set_results all{y.detach(), torch::autograd::grad({y}, leaves, {g}, true), {}};
  if (type == at::kDouble) {
    at::Tensor total = at::zeros({}, at::kDouble);
    for (at::Tensor const& d : torch::autograd::grad({y.square().sum()}, leaves, {}, true, true))
      total = total + (d * gradcheck::weights_for(d.detach(), 0.7)).sum();
    all.second = torch::autograd::grad({total}, leaves);
  }
  return all;
}

// Returns the largest difference divided by the largest value.
double apart(at::Tensor const& a, at::Tensor const& b) {
  REQUIRE(a.sizes() == b.sizes());
  REQUIRE(a.scalar_type() == b.scalar_type());
  at::Tensor const x = a.to(at::kDouble), y = b.to(at::kDouble);
  return (x - y).abs().max().item<double>() / (1 + y.abs().max().item<double>());
}

}  // namespace

TEST_CASE("both kernel sets give the same values, gradients and second derivatives of every operation") {
  auto const groups = redco::comm::in_process_group::make("one", 1);
  for (set_case const& c : all_set_cases(*groups.front()))
    for (auto const& [type, bound] :
         {std::pair(at::kDouble, 1e-12), std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 3e-2)}) {
      INFO(c.name << " " << type);
      auto const fast = results_in(redco::tensors::kernel_set::fastest, c, type),
                 reference = results_in(redco::tensors::kernel_set::composed, c, type);
      CHECK(apart(fast.value, reference.value) < bound);
      for (std::size_t i = 0; i < fast.gradients.size(); ++i)
        CHECK(apart(fast.gradients[i], reference.gradients[i]) < bound);
      for (std::size_t i = 0; i < fast.second.size(); ++i) CHECK(apart(fast.second[i], reference.second[i]) < 1e-10);
    }
}

TEST_CASE("batch norm in f32 over uneven replicas equals batch norm of the whole batch") {
  at::Tensor const images = set_sample({3, 5, 3, 13}, 0.2) + 4, weight = set_sample({5}, 1.2),
                   bias = set_sample({5}, 2.2), g = set_sample({3, 5, 3, 13}, 0.9);
  tensor_list whole;
  for (at::Tensor const& x : {images, weight, bias}) whole.push_back(x.clone().requires_grad_());
  at::Tensor const y = at::batch_norm(whole[0], whole[1], whole[2], {}, {}, true, 0.1, 1e-5, false);
  y.backward(g);
  auto const groups = redco::comm::in_process_group::make("replicas", 2);
  std::vector<tensor_list> found(2);
  std::vector<std::thread> threads;
  for (std::int64_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      auto const own = [&](at::Tensor const& x) { return x.narrow(0, 2 * rank, 2 - rank).to(at::kFloat).clone(); };
      redco::comm::replica_round const round{groups[static_cast<std::size_t>(rank)].get(), false};
      tensor_list const leaves{own(images).requires_grad_(), weight.to(at::kFloat).requires_grad_(),
                               bias.to(at::kFloat).requires_grad_()};
      auto const statistics = kernel::batch_statistics_of(leaves[0], round);
      at::Tensor const part = kernel::batch_norm(leaves[0], leaves[1], leaves[2], statistics, round, 1e-5);
      part.backward(own(g));
      found[static_cast<std::size_t>(rank)] = {part.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
    });
  for (std::thread& thread : threads) thread.join();
  auto const both = [&](std::size_t i) { return at::cat({found[0][i], found[1][i]}).to(at::kDouble); };
  CHECK(apart(both(0), y.detach()) < 1e-5);
  CHECK(apart(both(1), whole[0].grad()) < 1e-5);
  for (std::size_t const i : {std::size_t{2}, std::size_t{3}})
    CHECK(apart((found[0][i] + found[1][i]).to(at::kDouble), whole[i - 1].grad()) < 1e-5);
}

TEST_CASE("max pooling chooses the first of equal pixels, and the last NaN, as ATen does") {
  at::Tensor const pixels = at::arange(2 * 3 * 7 * 11).mul(37).remainder(4).view({2, 3, 7, 11});
  for (at::ScalarType const type : {at::kDouble, at::kFloat, at::kBFloat16}) {
    at::Tensor const x = pixels.to(type);
    for (std::int64_t const column : {4, 5}) x[1][2][2][column].fill_(std::numeric_limits<double>::quiet_NaN());
    auto const pooled = [&](auto const& pool) {
      at::Tensor const leaf = x.clone().requires_grad_(), y = pool(leaf);
      y.backward(at::arange(1, y.numel() + 1).view(y.sizes()).to(type));
      return std::pair(y.detach(), leaf.grad());
    };
    for (std::int64_t const window : {2, 3}) {
      INFO(type << ", windows of " << window);
      auto const ours = pooled([&](at::Tensor const& leaf) { return redco::kernel::max_pool(leaf, window); });
      auto const atens = pooled([&](at::Tensor const& leaf) { return at::max_pool2d(leaf, {window, window}); });
      CHECK(at::allclose(ours.first, atens.first, 0, 0, true));
      CHECK(ours.first.isnan().sum().item<std::int64_t>() == 1);
      CHECK(ours.second.equal(atens.second));
    }
  }
}

TEST_CASE("kernels of device text on the CPU give the reference's results with one and with several threads") {
  auto const groups = redco::comm::in_process_group::make("one", 1);
  for (unsigned const threads : {8u, 1u, 5u}) {
    cpu_launcher launcher(threads, 6);
    redco::tensors::kernel_launcher::forced const forced(launcher);
    for (set_case const& c : all_set_cases(*groups.front()))
      for (auto const& [type, bound] : {std::pair(at::kFloat, 1e-5), std::pair(at::kBFloat16, 3e-2)}) {
        INFO(c.name << " " << type << " in blocks of " << threads);
        auto const ours = results_in(redco::tensors::kernel_set::fastest, c, type),
                   reference = results_in(redco::tensors::kernel_set::composed, c, type);
        CHECK(apart(ours.value, reference.value) < bound);
        for (std::size_t i = 0; i < ours.gradients.size(); ++i)
          CHECK(apart(ours.gradients[i], reference.gradients[i]) < bound);
      }
    for (auto const& [entry, unused] : device_text::entries()) {
      INFO(entry);
      bool const of_update = entry == "adam_update" || entry == "sums_of_squares";
      CHECK((of_update || launcher.runs().contains(entry)));
    }
  }
}

TEST_CASE("the composed set records only ATen's operators") {
  auto const groups = redco::comm::in_process_group::make("one", 1);
  std::function<bool(torch::autograd::Node*)> const has_own = [&](torch::autograd::Node* node) -> bool {
    if (node == nullptr) return false;
    std::string const name = node->name();
    auto const has = [&](char const* text) { return name.find(text) != std::string::npos; };
    if (has("recorded_call") || !(has("Backward") || has("torch::autograd::"))) return true;
    for (auto const& edge : node->next_edges())
      if (has_own(edge.function.get())) return true;
    return false;
  };
  for (set_case const& c : all_set_cases(*groups.front())) {
    INFO(c.name);
    for (redco::tensors::kernel_set const set :
         {redco::tensors::kernel_set::fastest, redco::tensors::kernel_set::composed}) {
      redco::tensors::forced_kernel_set const forced(set);
      tensor_list leaves;
      for (at::Tensor const& x : c.inputs) leaves.push_back(x.to(at::kBFloat16).requires_grad_());
      CHECK(has_own(c.call(leaves).grad_fn().get()) == (set == redco::tensors::kernel_set::fastest));
    }
  }
}

TEST_CASE("the kernel set is the fastest unless the environment sets it") {
  CHECK(redco::tensors::kernel_set_of(nullptr) == redco::tensors::kernel_set::fastest);
  CHECK(redco::tensors::kernel_set_of("") == redco::tensors::kernel_set::fastest);
  CHECK(redco::tensors::kernel_set_of("fastest") == redco::tensors::kernel_set::fastest);
  CHECK(redco::tensors::kernel_set_of("composed") == redco::tensors::kernel_set::composed);
  try {
    redco::tensors::kernel_set_of("cpu");
    FAIL("taken");
  } catch (error const& e) {
    CHECK(e.code() == exit_code::usage);
    CHECK(std::string(e.what()).find("REDCO_KERNELS is \"cpu\"") != std::string::npos);
  }
  at::Tensor const x = at::ones({2}), elsewhere = at::empty({2}, at::kMeta);
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  CHECK(redco::tensors::takes_cpu_kernels(x));
  CHECK(!redco::tensors::takes_cpu_kernels(elsewhere));
  redco::tensors::forced_kernel_set const reference(redco::tensors::kernel_set::composed);
  CHECK(!redco::tensors::takes_cpu_kernels(x));
}
