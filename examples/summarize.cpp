// Trains a BART or T5 from a Hugging Face folder to summarize, and scores its summaries by ROUGE-L.
// --epochs 0 only scores.
//
//   summarize --model FOLDER --train train.jsonl --eval dev.jsonl --n-model-shards 2 --beams 4

#include <redco/pretrained.hpp>

#include <redco/metrics/rouge_l.hpp>

struct my_options {
  redco::deployer_options deployer;
  redco::training_flags training{.warmup = 10, .lr = 5e-5};
  std::string model, train, eval, prefix, document = "document", summary = "summary";
  std::int64_t max_source = 512;
  std::optional<std::int64_t> max_target, beams;  // default: the model folder's settings
  std::optional<double> length_penalty;
  double invalid_utf8 = 0;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"), redco::field<"training">(&o::training, "how to train"),
        redco::required_field<"model">(&o::model, "folder of config.json, safetensors and tokenizer"),
        redco::required_field<"train">(&o::train, "JSONL of documents and summaries to learn"),
        redco::required_field<"eval">(&o::eval, "JSONL of those to measure"),
        redco::field<"document">(&o::document, "key of a document"),
        redco::field<"summary">(&o::summary, "key of its summary"),
        redco::field<"invalid_utf8">(&o::invalid_utf8, "largest share of a file's bytes that may be no UTF-8"),
        redco::field<"prefix">(&o::prefix, "text before every document, such as T5's \"summarize: \""),
        redco::field<"max_source">(&o::max_source, "tokens of a document; the rest is cut off").at_least(1),
        redco::field<"max_target">(&o::max_target,
                                   "tokens of a summary, the rest is cut off; 128 where the folder says nothing")
            .at_least(1),
        redco::field<"beams">(&o::beams, "number of beams of the search for a summary").at_least(1),
        redco::field<"length_penalty">(&o::length_penalty, "above 1 favours long summaries"));
  }
};

using document = std::vector<std::string>;  // text, summary

template <class Model>
void summarize(Model const& model, redco::pretrained_folder const& folder, my_options const& o,
               std::string const& config) {
  redco::tokenizer::any_tokenizer const& tokenizer = folder.tokenizer();
  redco::pretrained::generation_config const how =
      redco::pretrained::decoding_flags{.max_new_tokens = o.max_target,
                                        .beams = o.beams.value_or(folder.generation().search.beams),
                                        .length_penalty = o.length_penalty}
          .over(folder.generation());
  if (how.sampling.temperature > 0)
    throw redco::error(redco::exit_code::data,
                       o.model + ": summaries are searched, not drawn; set \"do_sample\" to false");
  std::int64_t const start = how.ids.start.value_or(how.ids.padding);
  std::int64_t const max_target = o.max_target.value_or(how.max_length.value_or(128));
  redco::beam_options const search = how.search_options(1, max_target);
  std::vector<std::string> const keys{o.document, o.summary};
  std::vector<document> const train = redco::read_jsonl(o.train, keys, 0, o.invalid_utf8);
  std::vector<document> const eval = redco::read_jsonl(o.eval, keys, 0, o.invalid_utf8);

  auto const net_of = [](auto const& net, redco::seq2seq_batch const& b) {
    return net.with(redco::encoder_input{b.source}, redco::encoder_mask{b.source_mask});
  };
  auto const seq2seq =
      redco::collate([&](std::span<document const> documents) {
        std::vector<redco::seq2seq_example> examples;
        for (document const& d : documents)
          examples.push_back({redco::text::shortened(tokenizer.encode(o.prefix + d[0]), o.max_source),
                              redco::text::shortened(tokenizer.encode(d[1]), max_target)});
        return redco::seq2seq_batch_of(examples, start, how.ids.padding);
      }) |
      redco::loss([&](auto const& net, redco::seq2seq_batch const& b) {
        return redco::cross_entropy(net_of(net, b)(b.decoder_ids), b.labels);
      }) |
      redco::predict([&](auto const& net, redco::seq2seq_batch const& b) {
        at::Tensor const starts = at::full({b.source.size(0), 1}, start, at::kLong);
        return redco::text::decoded_rows(tokenizer, redco::beam_search(net_of(net, b), starts, search).ids);
      });
  auto const rouge = [](std::span<document const> documents, std::span<std::string const> summaries) {
    double sum = 0;
    for (std::size_t i = 0; i < documents.size(); ++i) sum += redco::metrics::rouge_l(summaries[i], documents[i][1]).f;
    return redco::options::metric_map{{"rouge_l", sum / static_cast<double>(documents.size())}};
  };

  redco::deployer deployer(o.deployer);
  redco::log::list_unused(deployer.log(), "generation_config.json", how.unused);
  redco::trainer trainer(deployer, model, seq2seq, o.training);
  trainer.start_from(folder);
  auto const result = trainer.fit(
      train, {.eval = eval, .metrics = rouge, .save_argmin = {}, .save_argmax = {"rouge_l"}, .config = config});
  deployer.conclude("ROUGE-L of the summaries " + std::to_string(result.evaluation.at("rouge_l")));
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Trains a model to summarize.",
                                    [](my_options const& o, auto const& options) {
                                      redco::pretrained_folder const folder(o.model);
                                      folder.visit<redco::models::encoder_decoders>(
                                          [&](auto const& model) { summarize(model, folder, o, options.json()); });
                                    });
}
