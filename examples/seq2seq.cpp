// Trains an encoder-decoder to turn one text into another, and searches for its answers with beams.
// By default, a small T5 learns dates and numbers from random weights: it reads "the twenty-third
// of March nineteen eighty-four" and writes "1984-03-23". Exit code 1 if less than 0.98 of 1,000
// dates and numbers that do not occur in training are exact (metrics::exact_match of the bytes).
// Seeds 42, 1 and 2 reach 1.000, 0.997 and 0.998 in bf16, seed 42 reaches 0.999 in f32. With
// --model, a T5 or BART of a Hugging Face folder is trained further, such as for summaries.
//
//   seq2seq --seed 42 --workdir run ...
//   seq2seq --model FOLDER --data train.jsonl --eval dev.jsonl --beams 4 ...    all options: --help

#include "common/dates.hpp"
#include "common/word_tokenizer.hpp"

#include <redco/pretrained.hpp>

#include <redco/tokenizer/ended.hpp>
#include <redco/metrics/exact_match.hpp>
#include <redco/metrics/rouge_l.hpp>

using namespace redco;

struct my_options {
  deployer_options deployer;
  training_flags training{.global_batch = 32, .warmup = 10, .lr = 2e-3};
  std::string model, data, eval, prefix, source = "document", target = "summary";
  std::int64_t max_source = 512, examples = 100000, held_out = 1000;
  std::optional<std::int64_t> max_target, beams;  // default: the model folder's settings
  std::optional<double> length_penalty;
  double invalid_utf8 = 0;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        field<"deployer">(&o::deployer, "where to run"),
        field<"training">(&o::training, "how to train; with --model the default of --lr is 5e-5"),
        field<"model">(&o::model, "folder of config.json, safetensors and tokenizer; default: a small new T5"),
        field<"data">(&o::data, "JSONL of texts to learn; default: dates and numbers that the program writes"),
        field<"eval">(&o::eval, "JSONL of texts to measure; required with --data"),
        field<"source">(&o::source, "key of the text that the model reads"),
        field<"target">(&o::target, "key of the text that the model should write"),
        field<"invalid_utf8">(&o::invalid_utf8, "largest share of a file's bytes that may be no UTF-8")
            .at_least(0)
            .at_most(1),
        field<"examples">(&o::examples, "number of dates and numbers to learn without --data").at_least(1),
        field<"held_out">(&o::held_out, "number of other dates and numbers to measure without --data").at_least(1),
        field<"prefix">(&o::prefix, "text before every source, such as T5's \"summarize: \""),
        field<"max_source">(&o::max_source, "tokens of a source; the rest is cut off").at_least(1),
        field<"max_target">(&o::max_target, "tokens of a target; default: the folder's, else 128").at_least(1),
        field<"beams">(&o::beams, "number of beams of the search for a target").at_least(1),
        field<"length_penalty">(&o::length_penalty, "any number; above 1 favours long targets"));
  }
};

/// The examples, the conversion between texts and token ids, and the settings of the beam search.
struct text_task {
  dates::split data;
  tokenizer::any_tokenizer tokenizer;
  pretrained::generation_config decoding;
  pretrained_folder const* folder = nullptr;  ///< Folder of the first weights; null: they are drawn
};

/// Trains a model and returns the exit code: 1 if the share of exact matches is below `bound`.
template <class Model>
int learn(Model const& model, text_task const& task, my_options const& o, double bound, std::string const& config) {
  pretrained::decoding_flags const asked{
      .max_new_tokens = o.max_target, .beams = o.beams, .length_penalty = o.length_penalty};
  pretrained::generation_config const how = asked.over(task.decoding);
  if (how.sampling.temperature > 0)
    throw error(exit_code::data, o.model + ": targets are searched, not drawn; set \"do_sample\" to false");
  std::int64_t const start = how.ids.start.value_or(how.ids.padding);
  std::int64_t const max_target = o.max_target.value_or(how.max_length.value_or(128));
  beam_options const search = how.search_options(1, max_target);

  auto const net_of = [](auto const& net, seq2seq_batch const& b) {
    return net.with(encoder_input{b.source}, encoder_mask{b.source_mask});
  };
  auto const seq2seq =
      collate([&](std::span<dates::example const> some) {
        std::vector<seq2seq_example> examples;
        for (dates::example const& one : some)
          examples.push_back(
              {text::shortened(task.tokenizer.encode(o.prefix + one[0]), o.max_source),
               text::shortened(tokenizer::ended(task.tokenizer.encode(one[1]), how.ids.stop), max_target)});
        return seq2seq_batch_of(examples, start, how.ids.padding);
      }) |
      loss([&](auto const& net, seq2seq_batch const& b) {
        return cross_entropy(net_of(net, b)(b.decoder_ids), b.labels);
      }) |
      predict([&](auto const& net, seq2seq_batch const& b) {
        at::Tensor const starts = at::full({b.source.size(0), 1}, start, at::kLong);
        return text::decoded_rows(task.tokenizer, beam_search(net_of(net, b), starts, search).ids);
      });
  auto const scores = [](std::span<dates::example const> examples, std::span<std::string const> written) {
    double rouge = 0;
    std::vector<std::string> targets;
    for (dates::example const& one : examples) {
      rouge += metrics::rouge_l(written[targets.size()], one[1]).f / static_cast<double>(examples.size());
      targets.push_back(one[1]);
    }
    return options::metric_map{{"exact_match", metrics::exact_match(written, targets)}, {"rouge_l", rouge}};
  };

  deployer where(o.deployer);
  redco::log::list_unused(where.log(), "generation_config.json", how.unused);
  trainer learner(where, model, seq2seq, o.training);
  if (task.folder != nullptr) learner.start_from(*task.folder);
  auto const result = learner.fit(
      task.data.train,
      {.eval = task.data.held_out, .metrics = scores, .save_argmin = {}, .save_argmax = {"rouge_l"}, .config = config});
  auto const metric = [&](char const* name) { return std::to_string(result.evaluation.at(name)); };
  where.conclude("exact match " + metric("exact_match") + (bound > 0 ? " (bound 0.98)" : "") + ", ROUGE-L " +
                 metric("rouge_l") + ", held-out loss " + metric("loss"));
  return result.evaluation.at("exact_match") >= bound ? 0 : 1;
}

/// Trains a small T5 from random weights, with a tokenizer made from the training texts.
int learn_from_scratch(dates::split data, my_options const& o, double bound, std::string const& config) {
  std::vector<std::string> texts;
  for (dates::example const& one : data.train) texts.insert(texts.end(), one.begin(), one.end());
  word_tokenizer const tokenizer(texts, 8000);
  std::int64_t const ids = tokenizer.vocabulary_size();
  t5 const model{{.vocab = ids, .width = 64, .ffn = 256, .heads = 4, .head_dim = 16, .layers = 2, .decoder_layers = 2}};
  pretrained::generation_config decoding;
  decoding.ids = {.stop = {tokenizer.end}, .padding = tokenizer.padding, .start = tokenizer.padding};
  decoding.search = {.stop_ids = {tokenizer.end}, .pad = tokenizer.padding};
  return learn(model, {std::move(data), tokenizer, decoding}, o, bound, config);
}

int main(int argc, char** argv) {
  return main_of<my_options>(
      argc, argv, "Trains an encoder-decoder to turn one text into another.", [](my_options o, auto const& given) {
        if (o.data.empty() != o.eval.empty())
          throw error(exit_code::usage, "--data and --eval belong together: give both or none");
        std::vector const keys{o.source, o.target};
        auto const read = [&](std::string const& path) { return read_jsonl(path, keys, 0, o.invalid_utf8); };
        dates::split data = o.data.empty() ? dates::examples(o.examples, o.held_out, o.deployer.seed)
                                           : dates::split{read(o.data), read(o.eval)};
        my_options const standard;
        bool const as_stated =
            o.model.empty() && o.data.empty() && o.training == standard.training && o.examples == standard.examples;
        if (o.model.empty()) return learn_from_scratch(std::move(data), o, as_stated ? 0.98 : 0, options::to_json(o));
        pretrained_folder const folder(o.model);
        if (!given.given("lr")) o.training.lr = 5e-5;
        return folder.visit<models::encoder_decoders>([&](auto const& model) {
          return learn(model, {std::move(data), folder.tokenizer(), folder.generation(), &folder}, o, 0,
                       options::to_json(o));
        });
      });
}
