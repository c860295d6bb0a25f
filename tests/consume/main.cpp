// A program that depends on redco and trains a few steps. Exit code 0 if the loss falls below its
// bound in f32 and in bf16, whatever the CPU's default dtype is. If the project found PCRE2, the
// program also uses a tokenizer that needs PCRE2.
#include <redco/redco.hpp>

struct point_batch {
  at::Tensor x, y;
};

#if defined(REDCO_WITH_PCRE2) || defined(CONSUMER_HAS_PCRE2)
bool tokenizes() {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(
      R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"},
          "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3}, "merges": ["a b"]}})",
      "tokenizer.json");
  auto const ids = tokenizer.encode("ab b");
  return ids == std::vector<std::int64_t>{2, 3, 1} && tokenizer.decode(ids) == "ab b";
}
#else
bool tokenizes() { return true; }
#endif

struct my_options {
  redco::deployer_options deployer = {.mesh = redco::mesh{.dp = 1, .tp = 2}, .resume = "none"};
  static constexpr auto fields() { return redco::fields(redco::field<"deployer">(&my_options::deployer)); }
};

int main(int argc, char** argv) {
  if (!tokenizes()) return 2;
  return redco::main_of<my_options>(argc, argv, [](my_options const& o) {
    auto const line =
        redco::collate([](std::span<double const> xs) {
          at::Tensor const x = at::tensor(std::vector<double>(xs.begin(), xs.end())).to(at::kFloat).unsqueeze(1);
          return point_batch{x, 3 * x - 1};
        }) |
        redco::loss([](auto const& net, point_batch const& b) { return (net(b.x) - b.y).square().mean(); });
    redco::model_of<redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>> const model;
    std::vector<double> const xs{-1, -0.5, 0, 0.25, 0.5, 1, 2};
    for (redco::dtype const compute : {redco::dtype::f32, redco::dtype::bf16}) {
      redco::deployer_options where = o.deployer;
      where.dtype = compute;
      redco::deployer deployer(where);
      redco::trainer trainer(deployer, model, line, redco::adamw{.lr = 0.05});
      redco::fit_result const result = trainer.fit(xs, {.epochs = 60, .global_batch = 7, .save_last = false});
      if (!(result.losses.back() < 0.2)) return 1;
    }
    return 0;
  });
}
