// Trains adapters of the experts of a Mixtral, which ranks along ep and tp divide, and saves the
// adapters and the merged model: `adapt_experts MODEL FOLDER`.
#include <redco/pretrained.hpp>

#include <filesystem>
#include <numeric>

int main(int, char** argv) {
  std::filesystem::path const out = argv[2];
  redco::pretrained_folder const folder(argv[1]);
  using redco::models::mixtral;
  redco::with_lora<mixtral> const model{
      {folder.model<mixtral>().config, {.rank = 2, .alpha = 3, .targets = "v,experts.gate,experts.up,experts.down"}}};
  auto const lm = redco::collate([&](std::span<std::int64_t const> examples) {
                    at::Tensor const t = at::arange(10, at::kLong);
                    std::vector<at::Tensor> rows;
                    for (std::int64_t const i : examples)
                      rows.push_back((t * t * 3 + i * 7 + t * i).remainder(model.config.vocab));
                    at::Tensor const ids = at::stack(rows);
                    return redco::token_batch{ids.slice(1, 0, -1), ids.slice(1, 1)};
                  }) |
                  redco::loss([](auto const& net, redco::token_batch const& b) {
                    return redco::cross_entropy(net(b.input_ids), b.labels);
                  });
  redco::deployer deployer(
      {.mesh = redco::mesh{.ep = 2, .tp = 2}, .workdir = out / "run", .dtype = redco::dtype::f32, .quiet = true});
  redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 3e-2});
  trainer.start_from(folder);
  std::vector<std::int64_t> examples(16);
  std::iota(examples.begin(), examples.end(), 0);
  trainer.fit(examples, {.max_steps = 4, .global_batch = 4});
  trainer.save_adapter(out / "adapter", {.base = folder.folder().string()});
  redco::save_model_options as_f32 = folder.save_options();
  as_f32.type = redco::dtype::f32;
  trainer.save_model(out / "merged", as_f32);
}
