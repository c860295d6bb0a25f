// Trains a byte-level GPT-2 on text and writes a sample. Exit code 1 if the default text (C++
// headers), the default model and 300 steps of 4,096 bytes leave the held-out loss at 2.1 nats per
// byte or above.
//
//   language_modeling --ranks 2 --n-model-shards 2 --text FILE_OR_FOLDER ...    all options: --help
//   language_modeling --sparse-block 8    every second layer attends to blocks of 8 bytes

#include <redco/train.hpp>

#include <iostream>

struct my_options {
  redco::deployer_options deployer;
  redco::training_flags training{.max_steps = 300, .global_batch = 16, .warmup = 30, .lr = 1e-3};
  std::vector<std::string> text = {"/usr/include/boost/hana", "/usr/include/range", "/usr/include/cereal"};
  double dropout = 0.1, invalid_utf8 = 0;
  int width = 384, layers = 6, sparse_block = 0;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"),
        redco::field<"training">(&o::training, "how to train on windows of 256 bytes"),
        redco::field<"text">(&o::text, "files or folders to learn"),
        redco::field<"invalid_utf8">(&o::invalid_utf8, "largest share of a text's bytes that may be NUL or no UTF-8")
            .at_least(0)
            .at_most(1),
        redco::field<"dropout">(&o::dropout, "share of embeddings, branches and attention that is set to 0")
            .at_least(0)
            .at_most(1),
        redco::field<"width">(&o::width, "features of the model, a multiple of its 6 attention heads").at_least(6),
        redco::field<"layers">(&o::layers, "blocks of the model").at_least(1),
        redco::field<"sparse_block">(&o::sparse_block,
                                     "bytes per block of sparse attention in every second layer, as in mGPT; 0: dense")
            .at_least(0));
  }
};

/// A batch of texts in two forms: inputs and labels to learn from, and prompts to continue.
struct text_batch {
  redco::token_batch next;
  redco::text::padded_ids prompts;
};

int main(int argc, char** argv) {
  return redco::main_of<my_options>(
      argc, argv, "Trains a byte-level GPT-2.", [](my_options const& o, auto const& options) {
        redco::models::mgpt const model{
            {{.vocab = 256, .context = 256, .width = o.width, .heads = 6, .layers = o.layers, .dropout = o.dropout},
             o.sparse_block}};

        auto const lm =
            redco::collate([](std::span<std::string const> texts) {
              return text_batch{redco::next_token_batch(texts, 256), redco::text::prompt_ids(texts, 128)};
            }) |
            redco::loss([](auto const& net, text_batch const& b) {
              return redco::cross_entropy(net(b.next.input_ids, redco::nn::documents{b.next.documents}), b.next.labels);
            }) |
            redco::predict([](auto const& net, text_batch const& b) {
              auto const masked = net.with(redco::key_mask{b.prompts.mask});
              return redco::text::texts_of(
                  redco::generate(masked, b.prompts.ids, {.max_new_tokens = 128, .temperature = 0.7}), b.prompts);
            });

        std::string const extensions[] = {".hpp", ".h", ".cpp", ".txt", ".md"};
        auto const text = redco::hold_out(redco::read_text_files(o.text, extensions, o.invalid_utf8), 40);

        redco::deployer deployer(o.deployer);
        redco::trainer trainer(deployer, model, lm, o.training);
        std::cout << "options\n";
        options.print(std::cout);
        std::cout << trainer.report({.batch = o.training.global_batch, .sequence = 256}, o.training.micro_batch)
                  << '\n';
        auto const result = trainer.fit(redco::text_windows(text.train, 256),
                                        {.eval = redco::text_windows(text.held_out, 256), .config = options.json()});

        std::vector<std::string> const prompts{"namespace ", "template <class T, class"};
        for (std::string const& sample : redco::predictor(trainer).predict(prompts))
          deployer.log().banner("sample", {}, sample);
        double const loss = result.evaluation.at("loss");
        my_options standard;
        bool const bounded = !options.given("text") && o.training == standard.training && o.width == standard.width &&
                             o.layers == standard.layers;
        deployer.conclude("held-out loss " + std::to_string(loss) + " nats per byte" + (bounded ? " (bound 2.1)" : ""));
        return !bounded || loss < 2.1 ? 0 : 1;
      });
}
