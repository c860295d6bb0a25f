#include "comm/values.hpp"
#include "torch_catch.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/gradient_watch.hpp>
#include <redco/nn/network.hpp>
#include <redco/nn/nn.hpp>
#include <redco/nn/watches.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Tests watches of parameter uses and of finished gradients, on a language model whose head is tied
// to its table.

namespace watches_test {

using comm_test::must;
using namespace redco;

constexpr gpt2 tiny{{.vocab = 11, .context = 6, .width = 8, .heads = 2, .layers = 2}};

/// The network of one rank, its loss on fixed tokens, and its gradients.
struct subject {
  subject(rank_context& rank, recomputed_blocks const& like)
      : store(shard::placed_parameters(plan_of(tiny, rank.mesh)), rank.rank, dtype::f64, 3),
        net(std::make_shared<redco::nn::network<gpt2> const>(tiny, store, rank.rank, rank.mesh)),
        in(redco::nn::evaluation_pass(rank, 0, 0, {.recompute = like})) {}

  double backward() const {
    at::Tensor const ids = (at::arange(10, at::kLong) * 7 + 3).remainder(11).view({2, 5});
    mean const loss = cross_entropy(bound_network<gpt2>(net, in)(ids), ids.roll({1}, {1}));
    loss.sum.backward();
    return loss.sum.item<double>();
  }
  parameter handle_of(std::string const& name) const {
    redco::nn::stored_parameter const& p = *store.find(name);
    for (std::size_t i = 0; i < net->parameters().size(); ++i)
      if (net->parameters()[i].data_ptr() == p.value.data_ptr()) return {static_cast<std::int32_t>(i)};
    return {};
  }

  redco::nn::parameter_store store;
  std::shared_ptr<redco::nn::network<gpt2> const> net;
  redco::pass in;
};

template <class F>
void on_widths(F const& f) {
  for (int const width : {1, 2})
    for (bool const recomputed : {false, true}) {
      redco::comm::run_ranks({.tp = width}, {.threads = 1}, [&](rank_context& rank) { f(rank, recomputed); });
    }
}

/// A watch that counts uses and multiplies each parameter by a factor.
struct scaling final : redco::nn::parameter_watch {
  at::Tensor before_use(parameter which, at::Tensor const& value) override {
    ++uses[static_cast<std::size_t>(which.index)];
    return value * factors[static_cast<std::size_t>(which.index)];
  }
  std::vector<int> uses;
  std::vector<double> factors;
};

TEST_CASE("modules compute with the tensors that a watch returns for their parameters, also when recomputed") {
  on_widths([](rank_context& rank, recomputed_blocks const& like) {
    subject plain(rank, like), watched(rank, like);
    std::size_t const count = plain.net->parameters().size();
    scaling watch;
    watch.uses.assign(count, 0);
    at::NoGradGuard const by_hand;
    for (std::size_t i = 0; i < count; ++i) {
      watch.factors.push_back(1.0 + 0.1 * static_cast<double>(i % 5));
      at::Tensor(plain.net->parameters()[i].detach()).mul_(watch.factors[i]);
    }
    watched.in.watch = &watch;
    at::AutoGradMode const on(true);
    double const wanted = plain.backward(), found = watched.backward();
    must(std::abs(wanted - found) < 1e-12 * wanted, std::to_string(found) + " for " + std::to_string(wanted));
    for (std::size_t i = 0; i < count; ++i) {
      at::Tensor const right = plain.net->parameters()[i].grad() * watch.factors[i];
      must(at::allclose(watched.net->parameters()[i].grad(), right, 1e-10, 1e-12),
           "the gradient of " + std::to_string(i));
    }
    bool const again = like.any();
    auto const uses = [&](char const* name) {
      return watch.uses[static_cast<std::size_t>(watched.handle_of(name).index)];
    };
    must(uses("wte.weight") == 2, "the table is the head's too");
    must(uses("h.0.ln_1.weight") == (again ? 2 : 1), "a block's norm is used once each time it runs");
  });
}

TEST_CASE("a gradient ends once in each backward, after its last contribution") {
  on_widths([](rank_context& rank, recomputed_blocks const& like) {
    subject one(rank, like);
    std::size_t const count = one.net->parameters().size();
    std::vector<std::int32_t> order;
    std::vector<at::Tensor> ended(count);
    std::optional<redco::nn::gradient_watch> watch(std::in_place, *one.net, [&](parameter which) {
      order.push_back(which.index);
      ended[static_cast<std::size_t>(which.index)] =
          one.net->parameters()[static_cast<std::size_t>(which.index)].grad().clone();
    });
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      order.clear();
      one.backward();
      must(order.size() == count, std::to_string(order.size()) + " ends of " + std::to_string(count));
      for (std::size_t i = 0; i < count; ++i)
        must(at::equal(ended[i], one.net->parameters()[i].grad()), "a gradient does not change after its end");
      auto const turn = [&](char const* name) {
        return std::find(order.begin(), order.end(), one.handle_of(name).index) - order.begin();
      };
      must(turn("h.1.ln_1.weight") < turn("h.0.ln_1.weight"), "the last block's gradients end first");
      must(turn("ln_f.weight") < turn("wte.weight"), "the table's end last, though the head used it first");
    }
    watch.reset();
    order.clear();
    one.backward();
    must(order.empty(), "a watch that is gone sees nothing");
  });
}

}  // namespace watches_test
