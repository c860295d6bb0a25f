#include "torch_catch.hpp"

#include "comm/values.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/detail/attention_ring.hpp>
#include <redco/kernel/ring_attention.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/shape/sequence_part.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using redco::kernel::attention_options;
using redco::shape::sequence_part;

/// Returns the tokens of a part of the sequences `whole` [B, T, features]; padding tokens are 7.
at::Tensor part_of(at::Tensor const& whole, sequence_part const& part) {
  std::vector<at::Tensor> runs;
  for (auto const& one : part.runs()) {
    at::Tensor const padding = at::full({whole.size(0), part.of_run() - one.real, whole.size(2)}, 7, whole.options());
    runs.push_back(at::cat({whole.narrow(1, std::min(one.first, part.all), one.real), padding}, 1));
  }
  return at::cat(runs, 1);
}

/// Returns the largest difference between the tokens of `own`, this rank's part, and of `whole`,
/// relative to the largest element. Padding does not count.
double difference(at::Tensor const& own, at::Tensor const& whole, sequence_part const& part) {
  at::Tensor const expected = part_of(whole, part), real = part_of(at::zeros_like(whole), part).eq(0);
  return ((own - expected).abs() * real).max().item<double>() / whole.abs().max().item<double>();
}

/// A call of ring attention with its name. Sinks are in f64.
struct ring_case {
  std::string name;
  attention_options options;
};

/// The operands of a call, and what one rank computes with whole sequences, in f64.
struct one_rank {
  at::Tensor x, upstream, result, gradient, sink_gradient;
};

one_rank computed_whole(std::int64_t tokens, attention_options o, at::ScalarType type) {
  one_rank all;
  at::manual_seed(static_cast<std::uint64_t>(tokens));
  all.x = at::randn({2, tokens, (o.heads + 2 * o.kv_heads) * 4}, at::kDouble).to(type);
  all.upstream = at::randn({2, tokens, o.heads * 4}, at::kDouble).to(type);
  at::Tensor const whole = all.x.to(at::kDouble).clone().requires_grad_();
  if (o.sinks.defined()) o.sinks = o.sinks.detach().clone().requires_grad_();
  at::Tensor const result = redco::kernel::self_attention(whole, o);
  result.backward(all.upstream.to(at::kDouble));
  all.result = result.detach(), all.gradient = whole.grad();
  if (o.sinks.defined()) all.sink_gradient = o.sinks.grad();
  return all;
}

/// Compares one call by all ranks of `over` with `expected`.
void compare(redco::comm::group& over, std::int64_t tokens, ring_case const& c, one_rank const& expected,
             double tolerance) {
  std::string const name = c.name + ", " + std::to_string(tokens) + " tokens: ";
  at::ScalarType const type = expected.x.scalar_type();
  sequence_part const part{over.rank(), over.size(), tokens};
  attention_options o = c.options;
  if (o.sinks.defined()) o.sinks = o.sinks.to(type).clone().requires_grad_();
  at::Tensor const own = part_of(expected.x, part).requires_grad_();
  at::Tensor const y = redco::kernel::ring_attention(own, o, over, part);
  y.backward(part_of(expected.upstream, part) * part_of(at::zeros_like(expected.upstream), part).eq(0));
  comm_test::must(difference(y.detach().to(at::kDouble), expected.result, part) < tolerance, name + "output");
  comm_test::must(difference(own.grad().to(at::kDouble), expected.gradient, part) < tolerance, name + "gradient");
  if (!o.sinks.defined()) return;
  at::Tensor const sum = over.all_reduced(o.sinks.grad().to(at::kDouble));
  comm_test::must((sum - expected.sink_gradient).abs().max().item<double>() < tolerance * 4, name + "sinks");
}

/// Calls whose options need only the positions of keys in their block.
std::vector<ring_case> cases_of_blocks() {
  std::vector<ring_case> all{{"causal", {.heads = 3, .kv_heads = 3, .causal = true}},
                             {"full", {.heads = 4, .kv_heads = 2}},
                             {"cap", {.heads = 4, .kv_heads = 1, .causal = true, .soft_cap = 2}}};
  for (std::int64_t const window : {1, 2, 5, 40})
    all.push_back({"window " + std::to_string(window), {.heads = 2, .kv_heads = 1, .causal = true, .window = window}});
  return all;
}

/// Returns the positions of two rows of several documents: a new one begins every `each` tokens in
/// the first row, and every second token in the second row.
at::Tensor documents_of(std::int64_t tokens, std::int64_t each) {
  return at::stack({at::arange(tokens).remainder(each), at::arange(tokens).remainder(2)});
}

/// A mask with single hidden keys. In the second row the first keys are hidden, so that causal
/// queries there see no key.
at::Tensor mask_of(std::int64_t tokens) {
  at::Tensor mask = at::arange(tokens).remainder(4).ne(2).repeat({2, 1});
  mask[1].narrow(0, 0, (tokens + 1) / 2).fill_(false);
  return mask;
}

/// Calls whose options have operands of whole sequences, or numbers for positions in them.
std::vector<ring_case> cases_of_sequences(std::int64_t tokens) {
  std::vector<ring_case> all;
  attention_options const causal{.heads = 4, .kv_heads = 2, .causal = true};
  auto const add = [&](std::string const& name, auto const& change) {
    all.push_back({name, causal});
    change(all.back().options);
  };
  auto const drop = [](attention_options& o) { o.dropout = 0.4, o.key = {7, 3}, o.row0 = 5, o.head0 = 3; };
  at::Tensor const sinks = at::tensor({0.5, -1.0, 2.0, 0.0}, at::kDouble);
  for (std::int64_t const each : {1, 3, 9})
    add("documents of " + std::to_string(each), [&](auto& o) { o.documents = documents_of(tokens, each); });
  add("documents, window", [&](auto& o) { o.documents = documents_of(tokens, 5), o.window = 3; });
  add("mask", [&](auto& o) { o.key_mask = mask_of(tokens); });
  add("mask, cap", [&](auto& o) { o.key_mask = mask_of(tokens), o.soft_cap = 1; });
  add("mask, window", [&](auto& o) { o.key_mask = mask_of(tokens), o.window = 2; });
  add("mask, window of one key", [&](auto& o) { o.key_mask = mask_of(tokens), o.window = 1; });
  add("mask, documents", [&](auto& o) { o.key_mask = mask_of(tokens), o.documents = documents_of(tokens, 4); });
  add("mask of all queries", [&](auto& o) { o.causal = false, o.key_mask = mask_of(tokens); });
  add("mask of all keys", [&](auto& o) { o.causal = false, o.key_mask = at::zeros({2, tokens}, at::kBool); });
  add("sinks", [&](auto& o) { o.sinks = sinks; });
  add("sinks, documents, mask",
      [&](auto& o) { o.sinks = sinks, o.documents = documents_of(tokens, 4), o.key_mask = mask_of(tokens); });
  add("dropout", drop);
  add("dropout, documents, sinks", [&](auto& o) { drop(o), o.documents = documents_of(tokens, 4), o.sinks = sinks; });
  add("dropout, mask of all queries", [&](auto& o) { drop(o), o.causal = false, o.key_mask = mask_of(tokens); });
  add("pattern", [&](auto& o) { o.pattern = {2, 2, 1, 2}, o.head0 = 1; });
  add("pattern of one token", [&](auto& o) { o.pattern = {1, 4, 1, 4}, o.head0 = 2, o.sinks = sinks; });
  add("sliding pattern", [&](auto& o) { o.pattern = {.block = 3, .local = 2, .sliding = true}; });
  add("sliding pattern of one block", [&](auto& o) { o.pattern = {.block = 1, .sliding = true}, drop(o); });
  add("pattern, mask, dropout", [&](auto& o) { o.pattern = {1, 3, 1, 2}, drop(o), o.key_mask = mask_of(tokens); });
  add("sliding pattern, mask, window", [&](auto& o) {
    o.pattern = {.block = 2, .local = 3, .global = 1, .patterns = 2, .sliding = true};
    o.key_mask = mask_of(tokens), o.window = 5;
  });
  return all;
}

void compare_all(at::ScalarType type, double tolerance) {
  INFO(at::toString(type));
  for (std::int64_t const tokens : {1, 11, 24}) {
    std::vector<ring_case> cases = cases_of_blocks();
    for (ring_case const& one : cases_of_sequences(tokens)) cases.push_back(one);
    std::vector<one_rank> expected;
    for (ring_case const& one : cases) expected.push_back(computed_whole(tokens, one.options, type));
    for (int const ranks : {2, 3, 4})
      redco::comm::run_ranks({.cp = ranks}, {.threads = 1}, [&](redco::rank_context& rank) {
        for (std::size_t i = 0; i < cases.size(); ++i)
          compare(rank.group(redco::shape::axis::cp), tokens, cases[i], expected[i], tolerance);
      });
  }
}

}  // namespace

TEST_CASE("ring attention gives the results and gradients of whole sequences") {
  compare_all(at::kDouble, 1e-12);
  compare_all(at::kFloat, 1e-5);
  compare_all(at::kBFloat16, 3e-2);
}

TEST_CASE("ring attention by ATen operators gives the results and gradients of whole sequences") {
  redco::tensors::forced_kernel_set const composed(redco::tensors::kernel_set::composed);
  compare_all(at::kDouble, 1e-12);
}

TEST_CASE("all ranks compute equal numbers of causal pairs of runs") {
  for (int const ranks : {2, 3, 4, 8})
    for (int rank = 0; rank < ranks; ++rank) {
      attention_options const o{.causal = true};
      sequence_part const part{rank, ranks, 16 * ranks};
      double work = 0;
      redco::comm::run_ranks({}, {}, [&](redco::rank_context& alone) {
        redco::kernel::detail::attention_ring const ring(o, alone.world, part);
        for (int of = 0; of < ranks; ++of)
          for (auto const& one : ring.pairs_with(of)) work += one.options.query0 == 0 ? 0.5 : 1;
      });
      CHECK(work == 2 * ranks);
    }
}
