// Trains a BART or T5 of a Hugging Face folder to summarize, and measures its summaries by ROUGE-L. --epochs 0 only measures.
//
//   summarize --model FOLDER --train train.jsonl --eval dev.jsonl --n-model-shards 2 --beams 4

#include <redco/run/main_of.hpp>
#include <redco/run/trainer.hpp>
#include <redco/generate/beam_search.hpp>
#include <redco/text/decoded_rows.hpp>
#include <redco/text/seq2seq_batch.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/data/read_jsonl.hpp>
#include <redco/log/list_unused.hpp>
#include <redco/optimizer/adamw.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/loss.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>
#include <redco/metrics/rouge_l.hpp>

#include <iostream>
#include <optional>

struct my_options {
  redco::deployer_options deployer;
  std::string model, train, eval, prefix, document = "document", summary = "summary";
  std::int64_t max_source = 512, max_steps = 0, global_batch = 8, micro_batch = 0, warmup = 10;
  std::optional<std::int64_t> max_target, beams;  // what is not given is as the model's folder says
  std::optional<double> length_penalty;
  int epochs = 1;
  double lr = 5e-5, clip_norm = 1;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"),
        redco::required_field<"model">(&o::model, "folder of config.json, safetensors and tokenizer"),
        redco::required_field<"train">(&o::train, "JSONL of documents and summaries to learn"),
        redco::required_field<"eval">(&o::eval, "JSONL of those to measure"),
        redco::field<"document">(&o::document, "key of a document"),
        redco::field<"summary">(&o::summary, "key of its summary"),
        redco::field<"prefix">(&o::prefix, "text in front of every document, such as T5's \"summarize: \""),
        redco::field<"max_source">(&o::max_source, "tokens of a document; the rest is cut off"),
        redco::field<"max_target">(&o::max_target,
                                   "tokens of a summary, the rest is cut off; 128 where the folder says nothing"),
        redco::field<"epochs">(&o::epochs, "passes over the documents"),
        redco::field<"max_steps">(&o::max_steps, "updates at most; 0: all of the epochs"),
        redco::field<"global_batch">(&o::global_batch, "documents per update"),
        redco::field<"micro_batch">(&o::micro_batch, "documents that a shard computes at once; 0: all"),
        redco::field<"lr">(&o::lr, "peak of the learning rate, which then falls to 0"),
        redco::field<"warmup">(&o::warmup, "updates until the peak"),
        redco::field<"clip_norm">(&o::clip_norm, "largest gradient norm; 0: any"),
        redco::field<"beams">(&o::beams, "of the search for a summary"),
        redco::field<"length_penalty">(&o::length_penalty, "above 1 favours long summaries"));
  }
};

using document = std::vector<std::string>;  // its text and its summary

template <class Model>
int summarize(Model const& model, redco::pretrained const& folder,
              redco::options::resolved<my_options> const& options) {
  my_options const& o = options.values;
  redco::any_tokenizer const& tokenizer = folder.tokenizer();
  redco::generation_config how = folder.generation();
  if (how.sampling.temperature > 0)
    throw redco::error(redco::exit_code::data,
                       o.model + ": summaries are searched, not drawn; set \"do_sample\" to false");
  redco::token_ids const& special = how.ids;
  std::int64_t const start = special.start.value_or(special.padding);
  std::vector<std::string> const keys{o.document, o.summary};
  std::vector<document> const train = redco::read_jsonl(o.train, keys), eval = redco::read_jsonl(o.eval, keys);

  auto const ids_of = [&](std::string const& text, std::int64_t most) {
    auto ids = tokenizer.encode(text);
    if (std::ssize(ids) > most) {  // the end stays
      ids[static_cast<std::size_t>(most - 1)] = ids.back();
      ids.resize(static_cast<std::size_t>(most));
    }
    return ids;
  };
  auto const net_of = [](auto const& net, redco::seq2seq_batch const& b) {
    return net.with(redco::encoder_input{b.source}, redco::encoder_mask{b.source_mask});
  };
  if (o.beams) how.search.beams = *o.beams;
  if (o.length_penalty) how.search.length_penalty = *o.length_penalty;
  if (o.max_target) how.max_new_tokens = o.max_target;
  std::int64_t const max_target = o.max_target.value_or(how.max_length.value_or(128));
  redco::beam_options const search = how.search_behind(1, max_target);
  auto const seq2seq = redco::collate([&](std::span<document const> documents) {
                         std::vector<redco::seq2seq_example> examples;
                         for (document const& d : documents)
                           examples.push_back({ids_of(o.prefix + d[0], o.max_source), ids_of(d[1], max_target)});
                         return redco::seq2seq_batch_of(examples, start, special.padding);
                       }) |
                       redco::loss([&](auto const& net, redco::seq2seq_batch const& b) {
                         return redco::cross_entropy(net_of(net, b)(b.decoder_ids), b.labels);
                       }) |
                       redco::predict([&](auto const& net, redco::seq2seq_batch const& b) {
                         at::Tensor const starts = at::full({b.source.size(0), 1}, start, at::kLong);
                         return redco::decoded_rows(tokenizer, redco::beam_search(net_of(net, b), starts, search).ids);
                       });

  redco::deployer deployer(o.deployer);
  redco::log::list_unused(deployer.log(), "config.json", folder.unused());
  redco::log::list_unused(deployer.log(), "generation_config.json", how.unused);
  redco::adamw const optimizer{.lr = redco::linear_decay{.peak = o.lr, .warmup = o.warmup}, .clip_norm = o.clip_norm};
  redco::trainer trainer(deployer, model, seq2seq, optimizer);
  trainer.start_from(folder.weights());
  int const code =
      trainer.fit(train, {.epochs = o.epochs,
                          .max_steps = o.max_steps,
                          .global_batch = o.global_batch,
                          .micro_batch = o.micro_batch,
                          .eval = eval,
                          .metrics =
                              [](std::span<document const> documents, std::span<std::string const> summaries) {
                                double sum = 0;
                                for (std::size_t i = 0; i < documents.size(); ++i)
                                  sum += redco::rouge_l(summaries[i], documents[i][1]).f;
                                return redco::metric_map{{"rouge_l", sum / static_cast<double>(documents.size())}};
                              },
                          .save_argmin = {},
                          .save_argmax = {"rouge_l"},
                          .config = options.json()});
  if (code == 0)
    trainer.summary().lines.push_back("ROUGE-L of the summaries " + std::to_string(trainer.evaluation().at("rouge_l")));
  trainer.print_summary();
  return code;
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Trains a model to summarize.",
                                    [](my_options const& o, auto const& options) {
                                      redco::pretrained const folder(o.model);
                                      return folder.visit<redco::encoder_decoders>(
                                          [&](auto const& model) { return summarize(model, folder, options); });
                                    });
}
