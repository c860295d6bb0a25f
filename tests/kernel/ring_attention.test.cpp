#include "torch_catch.hpp"

#include "comm/values.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/detail/attention_ring.hpp>
#include <redco/kernel/ring_attention.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/shape/sequence_part.hpp>

#include <algorithm>
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

void compare(int ranks, std::int64_t tokens, attention_options const& o, at::ScalarType type, double tolerance) {
  INFO(ranks << " ranks, " << tokens << " tokens, window " << o.window << (o.causal ? ", causal" : "") << ", cap "
             << o.soft_cap << ", " << at::toString(type));
  std::int64_t const features = (o.heads + 2 * o.kv_heads) * 4;
  at::manual_seed(static_cast<std::uint64_t>(tokens));
  at::Tensor const x = at::randn({2, tokens, features}, at::kDouble).to(type),
                   upstream = at::randn({2, tokens, o.heads * 4}, at::kDouble).to(type);
  at::Tensor const whole = x.to(at::kDouble).clone().requires_grad_();
  at::Tensor const expected = redco::kernel::self_attention(whole, o);
  expected.backward(upstream.to(at::kDouble));
  redco::comm::run_ranks({.cp = ranks}, {}, [&](redco::rank_context& rank) {
    redco::comm::group& over = rank.group(redco::shape::axis::cp);
    sequence_part const part{over.rank(), ranks, tokens};
    at::Tensor const own = part_of(x, part).requires_grad_();
    at::Tensor const y = redco::kernel::ring_attention(own, o, over, part);
    y.backward(part_of(upstream, part) * part_of(at::zeros_like(upstream), part).eq(0));
    comm_test::must(difference(y.detach().to(at::kDouble), expected.detach(), part) < tolerance, "output");
    comm_test::must(difference(own.grad().to(at::kDouble), whole.grad(), part) < tolerance, "gradient");
  });
}

void compare_all(at::ScalarType type, double tolerance) {
  for (int const ranks : {2, 3, 4})
    for (std::int64_t const tokens : {1, 7, 24}) {
      compare(ranks, tokens, {.heads = 3, .kv_heads = 3, .causal = true}, type, tolerance);
      compare(ranks, tokens, {.heads = 4, .kv_heads = 2}, type, tolerance);
      compare(ranks, tokens, {.heads = 4, .kv_heads = 1, .causal = true, .soft_cap = 2}, type, tolerance);
      for (std::int64_t const window : {1, 2, 5, 40})
        compare(ranks, tokens, {.heads = 2, .kv_heads = 1, .causal = true, .window = window}, type, tolerance);
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
