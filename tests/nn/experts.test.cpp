#include "observation.hpp"
#include "sharded.hpp"

#include <redco/nn/experts.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

// Layers of experts on one rank and on tensor-parallel ranks, against plain operators that compute
// every expert for every token.

namespace experts_test {

using redco::layers::moe, redco::layers::experts, redco::layers::top, redco::layers::real;
using sharded::tensor_map;
namespace dispatch = redco::layers::dispatch;
namespace routing = redco::layers::routing;

constexpr std::int64_t batch = 3, tokens = 5, width = 8, hidden = 6, count = 4;
template <class... Traits>
using cdac = moe<experts<count, width, hidden>, top<2>, dispatch::cdac, Traits...>;
template <class... Traits>
using dcca = moe<experts<count, width, hidden>, top<2>, dispatch::dcca<real{0.5}>, Traits...>;
using plain = moe<experts<count, width, hidden, redco::gelu, false>, top<2>>;

/// A model of one layer of experts that states its input.
template <class Layer, bool Named = false>
struct model_of_experts {
  using net = std::conditional_t<Named, redco::sequential<Layer>, redco::sequential<redco::named<"moe", Layer>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, load.sequence, width}; }
};

/// Options of a dense computation of a layer of experts.
struct expected_form {
  bool late = false, sigmoid = false, normalised = false, gated = true, descends = false;
  double scale = 1;
  std::int64_t groups = 1, chosen_groups = 1;
};

/// Returns the layer's output from its parameters, by computing all experts for all tokens.
sharded::dense_function dense_experts(expected_form const& form) {
  return [form](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const flat = x.view({-1, width});
    at::Tensor const scores = flat.mm(p.at("moe.gate.weight").t());
    at::Tensor const all = form.sigmoid ? at::sigmoid(scores) : at::softmax(scores, -1);
    at::Tensor rated = (form.late ? scores : all).detach().clone();
    if (form.groups > 1) {
      std::int64_t const of_group = count / form.groups;
      at::Tensor const parts = rated.view({-1, form.groups, of_group});
      at::Tensor const best = std::get<1>(
          std::get<0>(parts.topk(std::min<std::int64_t>(2, of_group), -1)).sum(-1).topk(form.chosen_groups));
      at::Tensor const hide = at::ones({rated.size(0), form.groups}, at::kDouble).scatter(1, best, 0);
      rated = (parts - hide.unsqueeze(-1) * 1e30).view({-1, count});
    }
    at::Tensor const chosen = std::get<1>(rated.topk(2, -1));
    at::Tensor weights = (form.late ? scores : all).gather(1, chosen);
    if (form.late) weights = at::softmax(weights, -1);
    if (form.normalised) weights = weights / weights.sum(-1, true);
    weights = weights * form.scale;
    at::Tensor const of_experts = at::zeros_like(all).scatter(1, chosen, weights);
    at::Tensor const sent = form.descends ? flat.mm(p.at("moe.descend.weight").t()) : flat;
    at::Tensor y = at::zeros_like(sent);
    for (std::int64_t e = 0; e < count; ++e) {
      at::Tensor const up = sent.mm(p.at("moe.experts.up")[e].t());
      at::Tensor const inner =
          form.gated ? at::silu(sent.mm(p.at("moe.experts.gate")[e].t())) * up : at::gelu(up, "tanh");
      y = y + inner.mm(p.at("moe.experts.down")[e].t()) * of_experts.select(1, e).unsqueeze(1);
    }
    if (form.descends) y = y.mm(p.at("moe.ascend.weight").t());
    return y.view(x.sizes());
  };
}

at::Tensor some_input() { return sharded::values_of("x", std::vector<std::int64_t>{batch, tokens, width}) * 3; }

template <class Layer>
void check(expected_form const& form) {
  sharded::check_module<model_of_experts<Layer>>(some_input(), dense_experts(form), {1, 2, 3});
}

/// A network of one rank with the values of sharded::fill.
template <class Model>
struct rank_network {
  redco::nn::parameter_store store;
  std::shared_ptr<redco::nn::network<Model> const> net;

  explicit rank_network(redco::rank_context const& rank)
      : store(redco::shard::placed_parameters(redco::plan_of(Model{}, rank.mesh)), rank.rank, redco::dtype::f64, 1) {
    sharded::fill(store, rank.rank);
    net = std::make_shared<redco::nn::network<Model> const>(Model{}, store, rank.rank, rank.mesh);
  }

  redco::nn::stored_parameter const& at(std::string_view name) const {
    for (auto const& p : store.parameters())
      if (p.name == name) return p;
    throw std::runtime_error("no parameter " + std::string(name));
  }
};

/// Returns the gradient of the router's weight from the auxiliary loss alone: the loss multiplies
/// the layer's output by 0.
template <class Layer>
at::Tensor auxiliary_gradient(int width_of_mesh, at::Tensor const& x, at::Tensor const& mask = {}) {
  at::Tensor found;
  redco::comm::run_ranks({.tp = width_of_mesh}, {}, [&](redco::rank_context& rank) {
    using model = model_of_experts<Layer>;
    rank_network<model> const own(rank);
    redco::pass const in = redco::nn::training_pass(rank).with_examples(0, x.size(0));
    redco::bound_network<model> const bound(own.net, in);
    (mask.defined() ? bound(x, redco::key_mask{mask}) : bound(x)).mul(0).sum().backward();
    if (rank.rank == 0) found = own.at("moe.gate.weight").gradient.clone();
  });
  return found;
}

/// Returns the gradient of the auxiliary loss for tokens that count. The loss of a sequence is
/// coefficient E / (k T) times the sum of (tokens routed to e) p(t, e) over experts e and tokens t.
at::Tensor expected_gradient(at::Tensor const& x, double coefficient, at::Tensor const& mask = {}) {
  at::Tensor const weight = sharded::values_of("moe.gate.weight", std::vector<std::int64_t>{count, width});
  weight.requires_grad_();
  at::Tensor const all = at::softmax(x.reshape({-1, width}).mm(weight.t()), -1).view({x.size(0), x.size(1), count});
  at::Tensor const counts = mask.defined() ? mask.to(at::kDouble) : at::ones({x.size(0), x.size(1)}, at::kDouble);
  at::Tensor const chosen = at::zeros_like(all).scatter(2, std::get<1>(all.detach().topk(2, -1)), 1);
  at::Tensor const shares = all * counts.unsqueeze(-1), loads = (chosen * counts.unsqueeze(-1)).detach();
  at::Tensor const loss = (coefficient * count / 2 * (loads.sum(1) * shares.sum(1)).sum(1) / counts.sum(1)).sum();
  return torch::autograd::grad({loss}, {weight})[0];
}

using per_sequence = cdac<routing::auxiliary_loss<real{0.25}>>;
using balanced = cdac<routing::balanced_by_bias<real{0.5}>>;

/// A stack of two blocks whose routers count their loads.
struct stack {
  using block =
      redco::residual<redco::sequential<redco::named<"norm", redco::rms_norm<width>>, redco::named<"moe", balanced>>>;
  using net = redco::sequential<redco::named<"in", redco::layers::replicated_linear<width, width>>,
                                redco::named<"h", redco::repeat<2, block>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, load.sequence, width}; }
};

}  // namespace experts_test

using namespace experts_test;

TEST_CASE("a layer of experts equals a dense computation of all experts, with its derivatives, on 1, 2 and 3 shards") {
  check<cdac<>>({});
  check<plain>({.gated = false});
  check<dcca<>>({.descends = true});
}

TEST_CASE("experts equal a dense computation if each shard holds its own tokens") {
  sharded::check_module<model_of_experts<redco::layers::with_split_tokens<redco::named<"moe", cdac<>>>, true>>(
      some_input(), dense_experts({}), {1, 2, 3});
  sharded::check_module<model_of_experts<redco::layers::with_split_tokens<redco::named<"moe", dcca<>>>, true>>(
      some_input(), dense_experts({.descends = true}), {1, 2, 3});
}

TEST_CASE("a router normalises, scales, limits groups and applies softmax late or sigmoid, as its traits say") {
  check<cdac<routing::normalised<>>>({.normalised = true});
  check<cdac<routing::scaled<real{2.5}>, routing::normalised<>>>({.normalised = true, .scale = 2.5});
  check<cdac<routing::softmax_of_chosen>>({.late = true});
  check<cdac<routing::sigmoid, routing::normalised<>>>({.sigmoid = true, .normalised = true});
  check<cdac<routing::group_limited<2, 1>>>({.groups = 2, .chosen_groups = 1});
  check<dcca<routing::softmax_of_chosen>>({.late = true, .descends = true});
}

TEST_CASE("the gate of BigMac reads the features before they descend") {
  auto const plan = redco::plan_of(model_of_experts<dcca<>>{}, {.tp = 2});
  auto const shape_of = [&](std::string_view name) {
    for (auto const& p : redco::shard::placed_parameters(plan))
      if (p.name == name) return p.plan.fact.shape;
    return redco::extents{};
  };
  CHECK((shape_of("moe.gate.weight") == redco::extents{count, width}));
  CHECK((shape_of("moe.experts.up") == redco::extents{count, hidden, width / 2}));
  CHECK((shape_of("moe.experts.down") == redco::extents{count, width / 2, hidden}));
  CHECK((shape_of("moe.descend.weight") == redco::extents{width / 2, width}));
  CHECK((shape_of("moe.ascend.weight") == redco::extents{width, width / 2}));
}

TEST_CASE("experts whose hidden features are split leave their input as it is, and all shards get one result") {
  for (redco::mesh const& on : {redco::mesh{.tp = 2}, {.ep = 2, .tp = 3}})
    redco::comm::run_ranks(on, {}, [&](redco::rank_context& rank) {
      using model = model_of_experts<dcca<>>;
      rank_network<model> const own(rank);
      at::Tensor const x = some_input(), before = x.clone();
      x.requires_grad_();
      redco::pass const in = redco::nn::training_pass(rank).with_examples(0, batch);
      at::Tensor const y = redco::bound_network<model>(own.net, in)(x);
      at::Tensor const all = rank.tp.all_gather(y.detach().contiguous(), 0);
      y.pow(2).sum().backward();
      sharded::must(x.detach().equal(before), "the input is unchanged");
      sharded::must(all.equal(y.detach().repeat({on.tp, 1, 1})), "the results of all shards are equal");
    });
}

TEST_CASE("the auxiliary loss reaches the loss by itself, once, on one shard and on two") {
  for (int const tp : {1, 2})
    CHECK(sharded::distance(auxiliary_gradient<per_sequence>(tp, some_input()), expected_gradient(some_input(), 0.25)) <
          1e-14);
  CHECK(auxiliary_gradient<cdac<>>(1, some_input()).eq(0).all().item<bool>());
}

TEST_CASE("the auxiliary loss is the sum over its micro-batches") {
  at::Tensor const in_parts = auxiliary_gradient<per_sequence>(1, some_input().slice(0, 0, 1)) +
                              auxiliary_gradient<per_sequence>(1, some_input().slice(0, 1));
  CHECK(sharded::distance(in_parts, auxiliary_gradient<per_sequence>(1, some_input())) < 1e-14);
}

TEST_CASE("padding tokens do not count in the auxiliary loss") {
  at::Tensor const mask = at::ones({batch, tokens}, at::kBool);
  mask.slice(0, 1, 2).slice(1, 3).fill_(false);
  CHECK(sharded::distance(auxiliary_gradient<per_sequence>(1, some_input(), mask),
                          expected_gradient(some_input(), 0.25, mask)) < 1e-14);
}

TEST_CASE("the auxiliary loss of each text is the one that transformers computes for it alone, divided by k") {
  at::Tensor const x = some_input(), mask = at::ones({batch, tokens}, at::kBool);
  mask[0].slice(0, 0, 2).fill_(false);
  mask[1].slice(0, 3).fill_(false);
  at::Tensor const weight = sharded::values_of("moe.gate.weight", std::vector<std::int64_t>{count, width});
  weight.requires_grad_();
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (std::int64_t b = 0; b < batch; ++b) {
    // load_balancing_loss_func of transformers, with the attention mask of one text
    at::Tensor const real = mask[b].to(at::kDouble), routed = at::softmax(x[b].mm(weight.t()), -1);
    at::Tensor const experts = at::one_hot(std::get<1>(routed.detach().topk(2, -1)), count).to(at::kDouble);
    at::Tensor const of_experts = (experts * real.view({-1, 1, 1})).sum(0) / real.sum();
    at::Tensor const of_router = (routed * real.unsqueeze(1)).sum(0) / real.sum();
    loss = loss + (of_experts * of_router.unsqueeze(0)).sum() * count * real.sum();
  }
  at::Tensor const expected = torch::autograd::grad({loss * 0.25 / 2}, {weight})[0];
  CHECK(sharded::distance(auxiliary_gradient<per_sequence>(1, x, mask), expected) < 1e-14);
}

TEST_CASE("biases of a router choose experts but do not weigh them, and move towards the mean load once per step") {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    using model = model_of_experts<balanced>;
    rank_network<model> const own(rank);
    at::Tensor bias = own.at("moe.gate.bias").value;
    bias.zero_();
    sharded::must(own.net->balances().size() == 1, "one router");
    at::Tensor loads = own.net->balances()[0].loads;
    redco::pass const in = redco::nn::training_pass(rank).with_examples(0, batch);
    redco::bound_network<model> const bound(own.net, in);
    at::Tensor const x = some_input(), y = bound(x).detach();
    auto const counted = [&](double expected, std::string const& law) {
      sharded::must(loads.sum().item<double>() == expected, law);
    };
    counted(2 * batch * tokens, "two experts per token are counted");
    redco::pass const evaluates = redco::nn::evaluation_pass(rank).with_examples(0, batch);
    redco::bound_network<model>(own.net, evaluates)(x);
    counted(2 * batch * tokens, "evaluation is not counted");
    at::Tensor const mask = at::zeros({batch, tokens}, at::kBool);
    mask.select(1, 0).fill_(true);
    bound(x, redco::key_mask{mask});
    counted(2 * batch * (tokens + 1), "padding is not counted");
    at::Tensor const before = loads.clone();
    redco::nn::update_biases(own.net->balances(), rank.world);
    counted(0, "counts begin again");
    at::Tensor const moved = at::sign(before.mean() - before) * 0.5;
    sharded::must(at::allclose(bias, moved - moved.mean()), "biases move by their rate and are centred");
    bias.fill_(3);
    sharded::must(bound(x).detach().equal(y), "equal biases change nothing");
    bias[2].add_(100);
    loads.zero_();
    bound(x);
    sharded::must(loads[2].item<double>() == batch * tokens, "the biased expert gets every token");
  });
}

TEST_CASE("counts of a router are not doubled by recomputation") {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    rank_network<stack> const own(rank);
    for (bool const again : {false, true}) {
      redco::pass const in = redco::nn::training_pass(rank, 0, 0, {.recompute = again}).with_examples(0, batch);
      redco::bound_network<stack>(own.net, in)(some_input()).sum().backward();
      for (redco::nn::load_balance const& one : own.net->balances()) {
        sharded::must(one.loads.sum().item<double>() == 2 * batch * tokens, "each token is counted once");
        at::Tensor(one.loads).zero_();
      }
    }
  });
}

TEST_CASE("routing and gradients are equal with and without recomputation") {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    rank_network<stack> const kept(rank), again(rank);
    redco::pass const in = redco::nn::training_pass(rank).with_examples(0, batch);
    redco::pass const recomputes = redco::nn::training_pass(rank, 0, 0, {.recompute = true}).with_examples(0, batch);
    redco::bound_network<stack>(kept.net, in)(some_input()).pow(2).sum().backward();
    redco::bound_network<stack>(again.net, recomputes)(some_input()).pow(2).sum().backward();
    sharded::must(kept.store.gradients().equal(again.store.gradients()), "bit for bit");
  });
}

TEST_CASE("ties in top-k do not change the routing of blocks that run again") {
  redco::comm::run_ranks({.dp = 1}, {}, [&](redco::rank_context& rank) {
    std::vector<at::Tensor> gradients;
    for (bool const again : {false, true}) {
      rank_network<stack> const own(rank);
      // All scores are equal.
      for (auto const& p : own.store.parameters())
        if (p.name.ends_with("gate.weight")) at::Tensor(p.value.detach()).zero_();
      redco::pass const in = redco::nn::training_pass(rank, 0, 0, {.recompute = again}).with_examples(0, batch);
      redco::bound_network<stack>(own.net, in)(some_input()).pow(2).sum().backward();
      gradients.push_back(own.store.gradients().clone());
    }
    sharded::must(gradients[0].equal(gradients[1]), "bit for bit");
  });
}

TEST_CASE("experts save and send the declared bytes") {
  using redco::dtype;
  auto const check_saved = []<class Layer>(Layer) {
    for (int const tp : {1, 2})
      for (dtype const compute : {dtype::f32, dtype::bf16}) {
        INFO("tp " << tp << " " << name_of(compute));
        saved_test::check_saved_and_sent(saved_test::observe_floats(
            model_of_experts<Layer>{}, {.mesh = {.tp = tp}, .load = {batch, tokens}, .compute = compute},
            {batch, tokens, width}));
      }
  };
  check_saved(cdac<>());
  check_saved(cdac<routing::normalised<>>());
  check_saved(cdac<routing::softmax_of_chosen>());
  check_saved(cdac<routing::sigmoid>());
  check_saved(per_sequence());
  check_saved(cdac<routing::auxiliary_loss<real{0.1}>, routing::softmax_of_chosen>());
  check_saved(balanced());
  check_saved(plain());
  check_saved(dcca<>());
  using split = model_of_experts<redco::layers::with_split_tokens<redco::named<"moe", dcca<>>>, true>;
  saved_test::check_saved_and_sent(
      saved_test::observe_floats(split{}, {.mesh = {.tp = 2}, .load = {batch, tokens}}, {batch, tokens, width}));
}

TEST_CASE("wrong sizes of experts are refused with exit code 64 and the layer's name") {
  auto const refusal = []<class Layer>(Layer) {
    try {
      redco::plan_of(model_of_experts<Layer>{}, {.dp = 1});
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return std::string("accepted");
  };
  using four = experts<4, width, 6>;
  CHECK(refusal(cdac<>()) == "accepted");
  CHECK(refusal(moe<four, top<5>>()) == "64 layer 'moe' has 4 experts, of which it chooses more; give it at least 5");
  CHECK(refusal(moe<four, top<0>>()) == "64 layer 'moe' has 0 chosen experts; give it at least 1");
  CHECK(refusal(moe<four, top<2>, dispatch::dcca<real{0.0}>>()) ==
        "64 layer 'moe' has 0 descended features; give it at least 1");
  CHECK(refusal(moe<four, top<2>, dispatch::dcca<real{1.0}>>()) ==
        "64 layer 'moe' has 8 features, of which descending must leave fewer; give it at least 9");
  CHECK(refusal(cdac<routing::group_limited<3, 1>>())
            .starts_with("64 layer 'moe' has 4 experts, no multiple of its 3 groups"));
}
