// Measures the speed of decoding with GPT-2 small (124M parameters, vocabulary 50257, random
// weights) in f32: prompts of 128 random tokens and 128 new ones. Prints one JSON line.
// scripts/bench generate runs it in turns with transformers' generate.
//   generation --mesh 1x1 --batch 8 --beams 1         greedy; --beams 4: beam search
//   generation --mesh 1x2 --batch 8 --paced           one decoding for each line on standard input

#include "step_watch.hpp"

#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/nn/network.hpp>
#include <redco/nn/nn.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/value_text.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>

namespace {

struct generation_options {
  redco::mesh mesh;
  std::int64_t batch = 1;
  std::int64_t beams = 1;
  std::int64_t prompt = 128;
  std::int64_t tokens = 128;
  int rounds = 5;
  int threads = 2;
  bool paced = false;

  static constexpr auto fields() {
    using o = generation_options;
    using redco::field;
    return redco::fields(field<"mesh">(&o::mesh, "data-parallel x tensor-parallel ranks, or axes by name: dp=2,tp=2"),
                         field<"batch">(&o::batch, "prompts").at_least(1),
                         field<"beams">(&o::beams, "number of beams of a beam search; 1: greedy").at_least(1),
                         field<"prompt">(&o::prompt, "tokens of a prompt").at_least(1),
                         field<"tokens">(&o::tokens, "new tokens of a prompt").at_least(1),
                         field<"rounds">(&o::rounds, "decodings; the median leaves the first three out").at_least(1),
                         field<"threads">(&o::threads, "threads of all ranks together").at_least(1),
                         field<"paced">(&o::paced, "one decoding for each line on standard input"));
  }
};

void run(generation_options const& o) {
  redco::gpt2 const model{};
  step_watch watch(o.paced, std::cout);
  watch.begin();
  redco::comm::run_ranks(o.mesh, {.threads = std::max(1, o.threads / o.mesh.ranks())}, [&](redco::rank_context& rank) {
    redco::nn::parameter_store const store(redco::shard::placed_parameters(redco::plan_of(model, o.mesh)), rank.rank,
                                           redco::dtype::f32, 42);
    redco::pass const in = redco::nn::evaluation_pass(rank);
    redco::bound_network<redco::gpt2> const net(
        std::make_shared<redco::nn::network<redco::gpt2> const>(model, store, rank.rank, o.mesh), in);
    std::int64_t const rows = o.batch / o.mesh.dp;
    at::Tensor const ids = (at::arange(o.batch * o.prompt, at::kLong) * 7919 + 13)
                               .remainder(model.config.vocab)
                               .view({o.batch, o.prompt})
                               .narrow(0, rank.dp_index() * rows, rows);
    for (int round = 0; round < o.rounds; ++round) {
      watch.enter(static_cast<std::uint64_t>(round));
      if (o.beams == 1) {
        redco::generate(net, ids, {.max_new_tokens = o.tokens});
      } else {
        redco::beam_search(net, ids, {.max_new_tokens = o.tokens, .beams = o.beams});
      }
      rank.world.barrier();
      if (rank.rank == 0) watch.done(0);
    }
  });
  double const seconds = step_watch::typical(watch.seconds);
  redco::json::json_value line;
  line["program"] = "redco";
  line["mesh"] = redco::options::to_text(o.mesh);
  line["batch"] = o.batch;
  line["beams"] = o.beams;
  line["prompt"] = o.prompt;
  line["tokens"] = o.tokens;
  line["threads"] = o.threads;
  line["seconds"] = seconds;
  line["tok_s"] = static_cast<double>(o.batch * o.tokens) / seconds;
  line["peak_rss_gib"] = step_watch::peak_rss_gib();
  std::cout << line.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
  run(redco::options::parse_or_exit<generation_options>(argc, argv, "Measures the speed of decoding GPT-2 small.")
          .values);
} catch (redco::error const& e) {
  std::cerr << e.what() << std::endl;
  return static_cast<int>(e.code());
}
