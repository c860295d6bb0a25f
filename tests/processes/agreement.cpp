// A small training of two processes that a test starts with different options or data; agreement.py
// starts it. `main_of` compares the command lines. Environment variables (OWN_LR, OWN_WIDTH and
// others below) hold settings that only the program knows.
// - `--how fit`: a trainer; with OWN_FOLDER it starts from the weights there
// - `--how save`: a trainer that also saves its weights in OWN_FOLDER
// - `--how worker`: a loop of the program's own
// - `--how predict`: predictions with the weights in OWN_FOLDER

#include <redco/train.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace {

struct my_options {
  redco::deployer_options deployer;
  redco::training_flags training{.max_steps = 2, .global_batch = 4, .lr = 1e-3};
  std::string how = "fit";
  double smoothing = 0;  // a setting that the library does not know
  std::filesystem::path data;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"), redco::field<"training">(&o::training, "how to train"),
        redco::field<"how">(&o::how, "fit, save, worker or predict"),
        redco::field<"smoothing">(&o::smoothing, "added to each loss"), redco::field<"data">(&o::data, "not read"));
  }
};

std::string own(std::string const& name, std::string const& standard) {
  char const* const value = std::getenv(("OWN_" + name).c_str());
  return value != nullptr ? value : standard;
}
double number(std::string const& name, double standard) {
  std::string const text = own(name, "");
  return text.empty() ? standard : std::stod(text);
}
std::int64_t count(std::string const& name, std::int64_t standard) {
  return static_cast<std::int64_t>(number(name, static_cast<double>(standard)));
}

std::vector<std::string> texts(std::string const& name, std::int64_t standard) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < count(name, standard); ++i) all.push_back("text " + std::to_string(i * 7 + 3));
  if (!all.empty()) all.front() += own(name + "_FIRST", "");
  return all;
}

template <redco::model M>
void take_steps(redco::deployer& where, M const& model) {
  where.run([&](redco::rank_context& rank) {
    redco::worker worker(where, rank, {.steps = count("STEPS", 2)});
    auto& net = worker.add("actor", model, redco::adamw{.lr = number("LR", 1e-3)});
    for (worker.resume(); !worker.finished(); worker.end_step()) {
      auto const batch = redco::next_token_batch(texts("EXAMPLES", 4), 8);
      redco::pass const pass = worker.pass(0, 4);
      worker.update(net, redco::cross_entropy(net.in(pass)(batch.input_ids), batch.labels));
    }
  });
}

template <redco::model M>
int train(redco::deployer& deployer, my_options const& o, M const& model) {
  auto const job = redco::collate([](std::span<std::string const> some) { return redco::next_token_batch(some, 8); }) |
                   redco::loss([](auto const& net, redco::token_batch const& b) {
                     return redco::cross_entropy(net(b.input_ids), b.labels);
                   }) |
                   redco::predict([](auto const& net, redco::token_batch const& b) {
                     at::Tensor const best = net(b.input_ids).tensor().argmax(-1).select(1, 0).contiguous();
                     auto const* const ids = best.template const_data_ptr<std::int64_t>();
                     return std::vector<std::int64_t>(ids, ids + best.numel());
                   });
  std::filesystem::path const folder = own("FOLDER", "");
  if (o.how == "worker") {
    take_steps(deployer, model);
    return 0;
  }
  if (o.how == "predict") {
    redco::inference const loaded(deployer, model, job, folder);
    std::cout << redco::predictor(loaded).predict(texts("EXAMPLES", 5), count("BATCH", 4)).size() << " predicted\n";
    return 0;
  }
  redco::adamw const optimizer{.lr = redco::linear_decay{.peak = number("LR", o.training.lr)},
                               .clip_norm = number("CLIP", 1)};
  redco::trainer trainer(deployer, model, job, optimizer, o.training);
  if (o.how == "fit" && !folder.empty()) trainer.start_from(folder);
  trainer.fit(texts("EXAMPLES", 9), {.global_batch = count("BATCH", 4),
                                     .eval = texts("EVAL", 3),
                                     .eval_every_steps = count("EVAL_EVERY", 0),
                                     .save_last = false,
                                     .save_argmin = {}});
  if (o.how == "save") trainer.save_model(folder);
  return 0;
}

int run(my_options const& o) {
  redco::deployer deployer(o.deployer);
  redco::gpt2 const model{{.vocab = 256,
                           .context = 16,
                           .width = count("WIDTH", 12),
                           .heads = count("HEADS", 2),
                           .layers = 1,
                           .dropout = number("DROPOUT", 0.1)}};
  if (count("SPLIT_TOKENS", 0) != 0)
    return train(deployer, o, redco::models::sequence_parallel<redco::gpt2>{model.config});
  return train(deployer, o, model);
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, [](my_options const& o) { return run(o); });
}
