// Trains a decoder from a Hugging Face folder further, and saves it as a Hugging Face folder. With
// --text, it learns all tokens of text files or JSONL. With --conversations, it learns the answers
// in JSONL of "messages", or of "prompt" and "completion", in the format of its chat template.
//
//   fine_tune --model FOLDER --text notes.txt --text more.jsonl --dtype bf16 --micro-batch 2
//   fine_tune --model FOLDER --conversations chats.jsonl --dtype bf16 --micro-batch 2
//
// With --pack, a row of the batch holds as many texts as fit into --context, which do not see each
// other.

#include "common/marked_texts.hpp"

#include <redco/pretrained.hpp>

#include <iostream>

struct my_options {
  redco::deployer_options deployer;
  redco::training_flags training{.warmup = 10, .lr = 5e-5};
  std::string model;
  std::vector<std::string> text, conversations;
  std::string key = "text";
  std::int64_t context = 512, hold_out = 20;
  double invalid_utf8 = 0;
  bool pack = false;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"), redco::field<"training">(&o::training, "how to train"),
        redco::required_field<"model">(&o::model, "folder of config.json, safetensors and tokenizer"),
        redco::field<"text">(&o::text, "files or folders of text, .jsonl files"),
        redco::field<"conversations">(&o::conversations, "JSONL of conversations, or of prompts and completions"),
        redco::field<"key">(&o::key, "key of the text in a line of JSONL"),
        redco::field<"invalid_utf8">(&o::invalid_utf8, "largest share of a text's bytes that may be NUL or no UTF-8")
            .at_least(0)
            .at_most(1),
        redco::field<"context">(&o::context, "tokens of an example, at most the model's context").at_least(1),
        redco::field<"pack">(&o::pack, "pack several texts into each example"),
        redco::field<"hold_out">(
            &o::hold_out, "distance of the examples that are kept for evaluation, such as 20: every 20th; 0: none")
            .at_least(0));
  }
};

/// Trains on the texts or on the answers, and saves the model.
template <class Model>
void fine_tune(Model const& model, redco::pretrained_folder const& folder, my_options const& o,
               std::string const& config) {
  using redco::text::packed, redco::text::packed_row;
  std::int64_t const context = std::min(o.context, model.config.context);
  auto const examples = redco::data::hold_out_every(marked_texts(folder, o, context), o.hold_out);
  std::int64_t const longest = o.pack ? context : 0;
  std::vector<packed_row> const rows = packed(examples.train, longest), held_out = packed(examples.held_out, longest);
  if (o.pack) std::cout << examples.train.size() << " texts in " << rows.size() << " rows\n";
  auto const lm = redco::collate([&](std::span<packed_row const> some) {
                    return redco::token_batch_of(some, folder.ids().padding);
                  }) |
                  redco::loss([](auto const& net, redco::token_batch const& b) {
                    return redco::cross_entropy(net(b.input_ids, redco::nn::documents{b.documents}), b.labels);
                  });
  redco::deployer deployer(o.deployer);
  redco::trainer trainer(deployer, model, lm, o.training);
  trainer.start_from(folder);
  std::cout << trainer.report({.batch = o.training.global_batch, .sequence = context}, o.training.micro_batch) << '\n';
  trainer.fit(rows, {.eval = held_out, .config = config});
  std::filesystem::path const saved = deployer.workdir() / "model";
  trainer.save_model(saved, folder.save_options());
  deployer.conclude("model saved in " + saved.string());
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(
      argc, argv, "Trains a decoder further on text.", [](my_options const& o, auto const& options) {
        redco::pretrained_folder const folder(o.model);
        folder.visit<redco::models::decoders>([&](auto const& model) { fine_tune(model, folder, o, options.json()); });
      });
}
