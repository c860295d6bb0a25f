#include "walls/training.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>
#include <string>
#include <vector>

// A frozen model with small trained adapters after its branches (Houlsby et al. 2019).

namespace {

using namespace redco;

struct adapted {
  static constexpr std::int64_t words = 7, width = 12;
  using adapter =
      named<"adapter", residual<sequential<named<"down", linear<width, 4>>, gelu, named<"up", linear<4, width>>>>>;
  using block =
      sequential<residual<sequential<named<"n", layer_norm<width>>, named<"attn", causal_attention<width, 4>>>>,
                 adapter,
                 residual<sequential<named<"m", layer_norm<width>>, named<"up", linear<width, 16>>, gelu,
                                     named<"down", linear<16, width>>>>>;
  using net = sequential<named<"wte", embedding<words, width>>, named<"h", repeat<2, block>>,
                         named<"head", redco::layers::language_head<words, width>>>;
  no_config config;
};

std::vector<std::string> const all_but_adapters{"wte.*",    "h.*.n.*",    "h.*.m.*", "h.*.attn.*",
                                                "h.?.up.*", "h.?.down.*", "head.*"};

bool is_adapter(std::string const& name) { return name.find("adapter") != std::string::npos; }

template <class Net>
mean token_loss(Net const& net, walls::share const& mine) {
  at::Tensor const at = at::arange(30, at::kLong);
  at::Tensor const ids = (at * at + 2 * at).remainder(7).view({5, 6}).slice(0, mine.begin, mine.end);
  return cross_entropy(net(ids.slice(1, 0, -1)), ids.slice(1, 1));
}

}  // namespace

TEST_CASE("adapters of a frozen model learn equally on every mesh, and no other parameter changes") {
  auto const loss = [](auto const& net, walls::share const& mine, int) { return token_loss(net, mine); };
  adamw const optimizer{.lr = 2e-2, .weight_decay = 0.1};
  auto const start = walls::trained(adapted{}, optimizer, {.dp = 1}, {.steps = 0, .frozen = all_but_adapters}, loss);
  auto const one = walls::check_meshes(adapted{}, optimizer, {.steps = 8, .frozen = all_but_adapters}, loss);
  CHECK(one.losses.back() < one.losses.front());
  for (mesh const& shape : walls::meshes) {
    auto const end = walls::trained(adapted{}, optimizer, shape, {.steps = 2, .frozen = all_but_adapters}, loss);
    for (auto const& [name, value] : end.parameters) {
      INFO(name << " on mesh " << walls::name_of(shape));
      CHECK(value.equal(start.parameters.at(name)) == !is_adapter(name));
    }
  }
}

TEST_CASE("frozen parameters have neither gradients nor optimizer state") {
  redco::run::trained_network<adapted> const state({}, plan_of(adapted{}, {.tp = 2}), adamw{}, dtype::f64, 5, 1,
                                                   all_but_adapters);
  std::int64_t trained = 0;
  for (auto const& p : state.store.parameters()) {
    INFO(p.name);
    CHECK(p.trainable == is_adapter(p.name));
    CHECK(p.gradient.defined() == is_adapter(p.name));
    if (is_adapter(p.name)) trained += p.value.numel();
  }
  CHECK(trained == 2 * (2 * 12 * 2 + 2 + 12));
  CHECK(state.store.gradients().numel() == trained);
  std::int64_t slots = 0;
  for (auto const& s : state.segments)
    for (auto const& slot : s.slots) slots += slot.numel();
  CHECK(slots == 2 * trained);
  for (auto const& part : state.parts()) CHECK((part.name.find("optimizer.") != 0 || is_adapter(part.name)));
}
