#include "nn/sharded.hpp"

#include <redco/generate/beam_search.hpp>
#include <redco/generate/decoding.hpp>
#include <redco/generate/generate.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/t5.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Tests the memory that a decoding step allocates: equal at the first and the last token, and
// nothing remains allocated.

namespace {

/// Bytes of c10's allocators in each step of one decoding: the peak above the bytes that remain,
/// and the bytes that remain.
struct step_bytes {
  std::vector<std::int64_t> most, stays;

  void add(redco::tensors::memory_counter& memory) {
    most.push_back(memory.peak() - memory.current());
    stays.push_back(memory.current());
    memory.reset_peak();
  }

  /// Compares steps 3 to the last with step 2. The first step reads the prompt.
  void check() const {
    sharded::must(most.size() > 20, "enough steps");
    for (std::size_t i = 3; i < most.size(); ++i) {
      sharded::must(most[i] == most[2], "step " + std::to_string(i) + " holds " + std::to_string(most[i]) +
                                            " bytes, step 2 " + std::to_string(most[2]));
      sharded::must(stays[i] == stays[2],
                    "step " + std::to_string(i) + " leaves another number of bytes allocated than step 2");
    }
  }
};

/// Calls f(net, memory counter of this rank) on each rank.
template <class M, class F>
void on_rank(M const& model, redco::mesh const& shape, F const& f) {
  redco::comm::run_ranks(shape, {}, [&](redco::rank_context& rank) {
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, shape)), rank.rank,
                                           redco::dtype::f32, 1);
    redco::pass const in = redco::nn::evaluation_pass(rank);
    f(redco::bound_network<M>(std::make_shared<redco::nn::network<M> const>(model, store, rank.rank, shape), in),
      *rank.memory);
  });
}

redco::gpt2 const reader{{.vocab = 300, .context = 64, .width = 24, .heads = 4, .layers = 2}};

at::Tensor ids_of(std::int64_t rows, std::int64_t length) {
  return (at::arange(rows * length, at::kLong) * 7 + 3).remainder(23).view({rows, length});
}

template <class Net>
void check_steps(Net const& net, at::Tensor const& prompts, redco::tensors::memory_counter& memory,
                 redco::generate_options o) {
  step_bytes bytes;
  o.max_new_tokens = 30;
  o.on_tokens = [&](std::span<std::int64_t const>) {
    bytes.add(memory);
    return true;
  };
  redco::generate(net, prompts, o);
  if (net.pass().tp->rank() == 0) bytes.check();
}

/// Runs beam search and records its memory step by step.
template <class M, class... Items>
void check_beam_steps(redco::bound_network<M, Items...> const& net, at::Tensor const& prompts,
                      redco::tensors::memory_counter& memory) {
  at::NoGradGuard const no_grad;
  redco::beam_options const o{.max_new_tokens = 30, .beams = 3, .length_penalty = 0};
  redco::generation::detail::beams hypotheses(prompts, o);
  redco::generation::decoding<M, Items...> decoder(net, prompts.size(1), o.max_new_tokens, o.beams);
  hypotheses.extend(decoder.next(prompts));
  decoder.select_rows(at::arange(prompts.size(0), at::kLong).repeat_interleave(o.beams));
  step_bytes bytes;
  while (hypotheses.unfinished()) {
    decoder.select_rows(hypotheses.origins());
    hypotheses.extend(decoder.next(hypotheses.last_tokens()));
    bytes.add(memory);
  }
  bytes.check();
}

}  // namespace

TEST_CASE("each step of greedy decoding and sampling allocates as much as the previous step") {
  for (redco::mesh const& shape : {redco::mesh{.dp = 1}, redco::mesh{.tp = 2}})
    on_rank(reader, shape, [](auto const& net, redco::tensors::memory_counter& memory) {
      check_steps(net, ids_of(3, 5), memory, {});
      at::Tensor const shown = at::arange(5, at::kLong).unsqueeze(0).ge(at::tensor({0, 2, 1}, at::kLong).unsqueeze(1));
      check_steps(net.with(redco::key_mask{shown}), ids_of(3, 5), memory, {});
      check_steps(net, ids_of(3, 5), memory, {.temperature = 1.5, .top_p = 0.9});
    });
}

TEST_CASE("each step of beam search allocates as much as the previous step and moves no keys") {
  on_rank(reader, {.dp = 1}, [](auto const& net, redco::tensors::memory_counter& memory) {
    check_beam_steps(net, ids_of(3, 5), memory);
    at::Tensor const shown = at::arange(5, at::kLong).unsqueeze(0).ge(at::tensor({0, 2, 1}, at::kLong).unsqueeze(1));
    check_beam_steps(net.with(redco::key_mask{shown}), ids_of(3, 5), memory);
  });
}

TEST_CASE("each step of an encoder-decoder allocates as much as the previous step and projects no source again") {
  at::Tensor const source = ids_of(2, 40), shown = at::arange(40, at::kLong).expand({2, 40}).lt(37);
  at::Tensor const start = at::ones({2, 1}, at::kLong);
  auto const check = [&](auto const& net, redco::tensors::memory_counter& memory) {
    auto const translator = net.with(redco::encoder_input{source}, redco::encoder_mask{shown.contiguous()});
    check_steps(translator, start, memory, {});
    check_beam_steps(translator, start, memory);
  };
  redco::t5 const t5{{.vocab = 300,
                      .width = 24,
                      .ffn = 20,
                      .heads = 4,
                      .head_dim = 6,
                      .layers = 2,
                      .decoder_layers = 2,
                      .buckets = 6,
                      .farthest = 8}};
  on_rank(t5, {.dp = 1}, check);
}

TEST_CASE("the cache takes the memory of the continuations and of one prompt for all its beams") {
  on_rank(reader, {.dp = 1}, [](auto const& net, redco::tensors::memory_counter& memory) {
    at::NoGradGuard const no_grad;
    std::int64_t const before = memory.current(), beams = 4, rows = 3, length = 20, more = 10;
    redco::generation::decoding<redco::gpt2> decoder(net, length, more, beams);
    decoder.next(ids_of(rows, length));
    decoder.select_rows(at::arange(rows, at::kLong).repeat_interleave(beams));
    decoder.next(at::ones({rows * beams, 1}, at::kLong));
    // K and v of two layers, f32
    std::int64_t const keys = 2 * 2 * 24 * 4 * rows * (length + beams * more);
    std::int64_t const held = memory.current() - before;
    sharded::must(held >= keys && held < keys + 8192,
                  "the bytes besides the cache are few: " + std::to_string(held - keys));
  });
}
