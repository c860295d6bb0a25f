// Trains any decoder of a Hugging Face folder further on text files or JSONL, and saves it as such a folder again.
//
//   fine_tune --model FOLDER --text notes.txt --text answers.jsonl --n-model-shards 2 --dtype bf16 --micro-batch 2

#include <redco/run/main_of.hpp>
#include <redco/run/trainer.hpp>
#include <redco/text/token_windows.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/data/read_jsonl.hpp>
#include <redco/data/read_text_files.hpp>
#include <redco/log/list_unused.hpp>
#include <redco/optimizer/adamw.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/loss.hpp>
#include <redco/pipeline/pipe.hpp>

#include <iostream>

struct my_options {
  redco::deployer_options deployer;
  std::string model;
  std::vector<std::string> text;
  std::string key = "text";
  std::int64_t context = 512, max_steps = 0, global_batch = 8, micro_batch = 0, warmup = 10, hold_out = 20;
  int epochs = 1;
  double lr = 5e-5, weight_decay = 0.01, clip_norm = 1;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(redco::field<"deployer">(&o::deployer, "where to run"),
                         redco::required_field<"model">(&o::model, "folder of config.json, safetensors and tokenizer"),
                         redco::required_field<"text">(&o::text, "files or folders of text, .jsonl files"),
                         redco::field<"key">(&o::key, "under which a line of JSONL holds its text"),
                         redco::field<"context">(&o::context, "tokens of an example, at most the model's context"),
                         redco::field<"hold_out">(&o::hold_out, "every how many-th example is kept for evaluation"),
                         redco::field<"epochs">(&o::epochs, "passes over the text"),
                         redco::field<"max_steps">(&o::max_steps, "updates at most; 0: all of the epochs"),
                         redco::field<"global_batch">(&o::global_batch, "examples per update"),
                         redco::field<"micro_batch">(&o::micro_batch, "examples that a shard computes at once; 0: all"),
                         redco::field<"lr">(&o::lr, "peak of the learning rate, which then falls to 0"),
                         redco::field<"warmup">(&o::warmup, "updates until the peak"),
                         redco::field<"weight_decay">(&o::weight_decay, "of AdamW"),
                         redco::field<"clip_norm">(&o::clip_norm, "largest gradient norm; 0: any"));
  }
};

std::vector<std::string> texts_in(my_options const& o) {
  std::vector<std::string> texts, plain;
  std::vector<std::string> const keys{o.key};
  for (std::string const& path : o.text) {
    if (!path.ends_with(".jsonl")) {
      plain.push_back(path);
      continue;
    }
    for (auto& line : redco::read_jsonl(path, keys)) texts.push_back(std::move(line.front()));
  }
  if (!plain.empty() || texts.empty())
    for (redco::text_file& file : redco::read_text_files(plain)) texts.push_back(std::move(file.text));
  return texts;
}

template <class Model>
int fine_tune(Model const& model, redco::pretrained const& folder,
              redco::options::resolved<my_options> const& options) {
  my_options const& o = options.values;
  redco::token_ids const& special = folder.ids();
  std::int64_t const context = std::min(o.context, model.config.context);
  std::vector<std::vector<std::int64_t>> ids;
  for (std::string const& text : texts_in(o)) {
    ids.push_back(folder.tokenizer().encode(text));
    if (!special.stop.empty()) ids.back().push_back(special.stop.front());
  }
  std::vector<std::vector<std::int64_t>> train, held_out;
  for (auto& window : redco::token_windows(ids, context)) {
    bool const held =
        o.hold_out > 0 && std::ssize(train) + std::ssize(held_out) + 1 == (std::ssize(held_out) + 1) * o.hold_out;
    (held ? held_out : train).push_back(std::move(window));
  }

  auto const lm = redco::collate([&](std::span<std::vector<std::int64_t> const> windows) {
                    return redco::token_batch_of(windows, special.padding);
                  }) |
                  redco::loss([](auto const& net, redco::token_batch const& b) {
                    return redco::cross_entropy(net(b.input_ids), b.labels);
                  });
  redco::deployer deployer(o.deployer);
  redco::log::list_unused(deployer.log(), "config.json", folder.unused());
  redco::adamw const optimizer{.lr = redco::linear_decay{.peak = o.lr, .warmup = o.warmup},
                               .weight_decay = o.weight_decay,
                               .clip_norm = o.clip_norm};
  redco::trainer trainer(deployer, model, lm, optimizer);
  trainer.start_from(folder.weights());
  std::cout << trainer.report({.batch = o.global_batch, .sequence = context}, o.micro_batch) << '\n';
  int const code = trainer.fit(train, {.epochs = o.epochs,
                                       .max_steps = o.max_steps,
                                       .global_batch = o.global_batch,
                                       .micro_batch = o.micro_batch,
                                       .eval = held_out,
                                       .config = options.json()});
  if (code == 0) {
    std::filesystem::path const saved = deployer.workdir() / "model";
    trainer.save_model(saved, folder.save_options());
    trainer.summary().lines.push_back("model saved in " + saved.string());
  }
  trainer.print_summary();
  return code;
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(
      argc, argv, "Trains a decoder further on text.", [](my_options const& o, auto const& options) {
        redco::pretrained const folder(o.model);
        return folder.visit<redco::decoders>([&](auto const& model) { return fine_tune(model, folder, options); });
      });
}
