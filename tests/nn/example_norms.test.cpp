#include "comm/values.hpp"
#include "torch_catch.hpp"

#include <redco/nn/context_entries.hpp>
#include <redco/nn/example_norms.hpp>
#include <redco/nn/families.hpp>
#include <redco/nn/network.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Compares ghost norms with backward passes of single examples.

namespace example_norms_test {

using comm_test::must;
using namespace redco;

constexpr std::int64_t examples = 5, tokens = 9;

/// Token ids from 1 to 12, many of which an example repeats. Later examples end with more padding
/// (id 0).
at::Tensor ids() {
  at::Tensor const x = at::arange(examples * tokens, at::kLong).square().remainder(11).view({examples, tokens}) + 1;
  at::Tensor const all = at::arange(tokens), longest = tokens - at::arange(examples).unsqueeze(1);
  return x.masked_fill(all >= longest, 0);
}

/// Returns the losses of the examples `rows` of a classifier of pairs.
struct classified {
  template <class Net>
  at::Tensor operator()(Net const& net, std::int64_t first, std::int64_t count) const {
    at::Tensor const x = ids().narrow(0, first, count), types = (at::arange(tokens) > 3).to(at::kLong).expand_as(x);
    // Padding is seen too, so that it has gradients.
    at::Tensor const seen = (at::arange(tokens) < tokens - 1).expand_as(x);
    at::Tensor const said = net(x, key_mask{seen}, nn::token_type_ids{types});
    at::Tensor const labels = at::arange(first, first + count, at::kLong).remainder(3);
    return at::cross_entropy_loss(said, labels, {}, at::Reduction::None);
  }
};

/// Returns each example's sum of the losses of its next tokens.
struct continued {
  template <class Net>
  at::Tensor operator()(Net const& net, std::int64_t first, std::int64_t count) const {
    at::Tensor const x = ids().narrow(0, first, count), said = net(x).tensor().log_softmax(-1);
    return -said.narrow(1, 0, tokens - 1).gather(2, x.narrow(1, 1, tokens - 1).unsqueeze(2)).flatten(1).sum(1);
  }
};

/// One rank's network in f64.
template <class M>
struct subject {
  subject(M const& m, rank_context& rank, std::vector<std::string> const& frozen = {})
      : store(shard::placed_parameters(plan_of(m, rank.mesh)), rank.rank, dtype::f64, 3, frozen),
        net(std::make_shared<nn::network<M> const>(m, store, rank.rank, rank.mesh)),
        in(nn::training_pass(rank).with_examples(0, examples)) {
    at::NoGradGuard const quiet;
    for (at::Tensor const& p : net->parameters())
      if (p.requires_grad()) leaves.push_back(p);
    for (nn::stored_parameter const& p : store.parameters()) at::Tensor(p.value).mul_(3);
  }

  nn::parameter_store store;
  std::shared_ptr<nn::network<M> const> net;
  redco::pass in;
  std::vector<at::Tensor> leaves;
};

/// Compares norms, and the sum of clipped gradients on each rank, with backward passes of single
/// examples. The norms to compare with are those of one rank.
template <class M, class Losses>
void check(M const& m, Losses const& losses_of, std::vector<std::string> const& frozen = {}) {
  std::vector<double> wanted;
  for (int const width : {1, 2})
    comm::run_ranks({.tp = width}, {.threads = 1}, [&](rank_context& rank) {
      subject<M> one(m, rank, frozen);
      std::vector<std::vector<at::Tensor>> single;
      for (std::int64_t i = 0; i < examples; ++i) {
        redco::pass const in = nn::training_pass(rank).with_examples(i, 1);
        single.push_back(
            torch::autograd::grad({losses_of(bound_network<M>(one.net, in), i, 1)}, one.leaves, {}, {}, false, true));
        if (width > 1) continue;
        double square = 0;
        for (at::Tensor const& g : single.back()) square += g.defined() ? g.square().sum().item<double>() : 0;
        wanted.push_back(std::sqrt(square));
      }
      nn::example_norms norms(*one.net, one.in);
      at::Tensor const losses = losses_of(bound_network<M>(one.net, norms.watched()), 0, examples);
      at::Tensor const found = norms.of(losses);
      for (std::int64_t i = 0; i < examples; ++i) {
        double const right = wanted[static_cast<std::size_t>(i)], is = found[i].template item<double>();
        must(std::abs(is - right) < 1e-10 * right, "norm " + std::to_string(is) + " is " + std::to_string(right));
      }
      double const most = (wanted[0] + wanted[3]) / 2;  // clips some examples, but not all
      auto const sum =
          torch::autograd::grad({(losses * (most / found).clamp_max(1)).sum()}, one.leaves, {}, {}, false, true);
      for (std::size_t p = 0; p < sum.size(); ++p) {
        if (!sum[p].defined()) continue;
        at::Tensor right = at::zeros_like(sum[p]);
        for (std::size_t i = 0; i < single.size(); ++i) right += single[i][p] * std::min(1.0, most / wanted[i]);
        must(at::allclose(sum[p], right, 1e-10, 1e-12), "clipped gradients of parameter " + std::to_string(p));
      }
    });
}

constexpr bert pairs{{.vocab = 13, .context = 11, .width = 16, .ffn = 20, .heads = 2, .layers = 2, .classes = 3}};
constexpr models::llama_config words{.vocab = 13, .width = 16, .ffn = 20, .heads = 4, .kv_heads = 2, .layers = 2};

TEST_CASE("norms of a classifier's examples equal those of their own backward passes on each mesh") {
  REQUIRE_NOTHROW(check(pairs, classified{}));
}

TEST_CASE("norms leave out frozen parameters") {
  REQUIRE_NOTHROW(check(pairs, classified{}, {"embeddings.word*", "*.attention.o.*", "classifier.bias"}));
}

TEST_CASE("norms of a language model's examples equal those of their own backward passes on each mesh") {
  REQUIRE_NOTHROW(check(llama{words}, continued{}));
}

/// Returns the message with which norms of examples are refused.
template <class M>
std::string refused(M const& m, auto const& losses_of) {
  std::string message;
  comm::run_ranks({}, {}, [&](rank_context& rank) {
    subject<M> one(m, rank);
    try {
      nn::example_norms norms(*one.net, one.in);
      norms.of(losses_of(bound_network<M>(one.net, norms.watched())));
    } catch (error const& e) {
      message = e.what();
      must(e.code() == exit_code::usage, message);
    }
    must(kernel::parameter_uses::current() == nullptr, "nothing is observed any more");
  });
  return message;
}

TEST_CASE("a parameter without norms of examples is refused by its name") {
  constexpr gpt2 tied{{.vocab = 13, .context = 11, .width = 8, .heads = 2, .layers = 1}};
  std::string const shared = refused(tied, [](auto const& net) { return continued{}(net, 0, examples); });
  REQUIRE(shared ==
          "the parameter wte.weight has no norms of examples: two layers share it; freeze the parameter or "
          "use another layer");
  auto normed = words;
  normed.query_key_norm = true;
  std::string const unknown = refused(llama{normed}, [](auto const& net) { return continued{}(net, 0, examples); });
  REQUIRE(unknown.find("q_norm.weight has no norms of examples") != std::string::npos);
}

TEST_CASE("norms of examples need a loss for each example") {
  std::string const one = refused(pairs, [](auto const& net) { return classified{}(net, 0, examples).mean(); });
  REQUIRE(one ==
          "norms of examples need one loss for each of the 5 examples of the pass: return losses without a "
          "reduction");
  comm::run_ranks({}, {}, [&](rank_context& rank) {
    subject<bert> a(pairs, rank), b(pairs, rank);
    nn::example_norms const norms(*a.net, a.in);
    try {
      nn::example_norms const second(*b.net, b.in);
      must(false, "two observers");
    } catch (error const& e) {
      must(e.code() == exit_code::internal, e.what());
    }
  });
}

}  // namespace example_norms_test
