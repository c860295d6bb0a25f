// Trains a byte-level GPT-2 on text and writes a sample. With the default text (C++ headers) and 300 steps of 4,096 bytes
// the held-out loss must fall below 2.1 nats per byte, else the exit code is 1.
//
//   language_modeling --ranks 2 --n-model-shards 2 --text FILE_OR_FOLDER ...     all options: --help

#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/generate/generate.hpp>
#include <redco/text/next_token_batch.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/data/hold_out.hpp>
#include <redco/data/read_text_files.hpp>
#include <redco/data/text_windows.hpp>
#include <redco/optimizer/adamw.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/loss.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>

#include <iostream>

struct my_options {
  redco::deployer_options deployer;
  std::vector<std::string> text = {"/usr/include/boost/hana", "/usr/include/range", "/usr/include/cereal"};
  int epochs = 1;
  std::int64_t max_steps = 300, global_batch = 16, micro_batch = 0;
  double lr = 1e-3, dropout = 0.1, clip_norm = 1;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(redco::field<"deployer">(&o::deployer, "where to run"),
                         redco::field<"text">(&o::text, "files or folders to learn"),
                         redco::field<"epochs">(&o::epochs, "passes over the text"),
                         redco::field<"max_steps">(&o::max_steps, "updates at most; 0: all of the epochs"),
                         redco::field<"global_batch">(&o::global_batch, "windows of 256 bytes per update"),
                         redco::field<"micro_batch">(&o::micro_batch, "windows that a shard computes at once; 0: all"),
                         redco::field<"lr">(&o::lr, "peak of the one-cycle learning rate"),
                         redco::field<"dropout">(&o::dropout, "on embeddings, branches and attention"),
                         redco::field<"clip_norm">(&o::clip_norm, "largest gradient norm; 0: any"));
  }
};

/// What to learn from some texts, and the texts themselves to go on from.
struct text_batch {
  redco::token_batch next;
  redco::padded_ids prompts;
};

int main(int argc, char** argv) {
  return redco::main_of<my_options>(
      argc, argv, "Trains a byte-level GPT-2 on text.", [](my_options const& o, auto const& given) {
        bool const standard = !given.given("text") && o.max_steps == 300 && o.global_batch == 16 && o.epochs == 1;
        redco::gpt2 const model{
            {.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6, .dropout = o.dropout}};

        auto const lm =
            redco::collate([](std::span<std::string const> texts) {
              return text_batch{redco::next_token_batch(texts, 256), redco::prompt_ids(texts, 128)};
            }) |
            redco::loss([](auto const& net, text_batch const& b) {
              return redco::cross_entropy(net(b.next.input_ids), b.next.labels);
            }) |
            redco::predict([](auto const& net, text_batch const& b) {
              auto const masked = net.with(redco::key_mask{b.prompts.mask});
              return redco::texts_of(
                  redco::generate(masked, b.prompts.ids, {.max_new_tokens = 128, .temperature = 0.7}), b.prompts);
            });

        redco::deployer deployer(o.deployer);
        std::string const extensions[] = {".hpp", ".h", ".cpp", ".txt", ".md"};
        auto const text = redco::hold_out(redco::read_text_files(o.text, extensions), 40);
        auto const train = redco::text_windows(text.train, model.config.context);
        auto const held_out = redco::text_windows(text.held_out, model.config.context);

        std::cout << "options\n";
        given.print(std::cout);
        redco::adamw const optimizer{.lr = redco::one_cycle{.peak = o.lr}, .clip_norm = o.clip_norm};
        redco::trainer trainer(deployer, model, lm, optimizer);
        std::cout << trainer.report({.batch = o.global_batch, .sequence = model.config.context}, o.micro_batch) << '\n';

        int code = trainer.fit(train, {.epochs = o.epochs,
                                       .max_steps = o.max_steps,
                                       .global_batch = o.global_batch,
                                       .micro_batch = o.micro_batch,
                                       .eval = held_out,
                                       .config = given.json()});
        if (code == 0) {
          std::vector<std::string> const prompts{"namespace ", "template <class T, class"};
          for (std::string const& sample : redco::predictor(trainer).predict(prompts))
            deployer.log().banner("sample", {}, sample);
          double const loss = trainer.evaluation().at("loss");
          trainer.summary().lines.push_back("held-out loss " + std::to_string(loss) + " nats per byte (bound 2.1)");
          if (standard && !(loss < 2.1)) trainer.summary().code = redco::exit_code::missed;
          code = static_cast<int>(trainer.summary().code);
        }
        trainer.print_summary();
        return code;
      });
}
