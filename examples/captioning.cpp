// Trains a ViT encoder and a GPT-2 decoder to describe pictures, and searches for captions with
// beams. By default, a small model learns drawn scenes from random weights: it sees two shapes and
// writes "a red circle above a small blue square". Exit code 1 if less than 0.95 of the captions of
// 500 held-out scenes are exact; seeds 42, 1 and 2 reach 0.982, 0.974 and 0.986. Their descriptions
// never occur in training. With --model, a folder of Hugging Face's VisionEncoderDecoderModel (ViT
// and GPT-2) is trained further and saved.
//
//   captioning --seed 42 --workdir run ...
//   captioning --model FOLDER --data train.jsonl --eval dev.tsv ...    all options: --help

#include "common/captioned_pictures.hpp"
#include "common/word_tokenizer.hpp"

#include <redco/pretrained.hpp>

#include <redco/pretrained/image_processor.hpp>
#include <redco/tokenizer/ended.hpp>
#include <redco/metrics/exact_match.hpp>
#include <redco/metrics/rouge_l.hpp>

using namespace redco;
using captioned::answer, captioned::example;

struct my_options {
  deployer_options deployer;
  training_flags training{.global_batch = 16, .warmup = 50, .lr = 2e-3};
  std::string model, data, eval, image = "image", caption = "caption";
  std::int64_t examples = 256000, held_out = 500;
  std::optional<std::int64_t> max_caption, beams;  // default: the model folder's settings
  std::optional<double> length_penalty;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        field<"deployer">(&o::deployer, "where to run"),
        field<"training">(&o::training, "how to train; with --model the default of --lr is 5e-5"),
        field<"model">(&o::model, "folder of config.json, safetensors and tokenizer; default: a small new model"),
        field<"data">(&o::data, "CSV, TSV or JSONL of pictures to learn; default: scenes that the program draws"),
        field<"eval">(&o::eval, "CSV, TSV or JSONL of pictures to measure; required with --data"),
        field<"image">(&o::image, "column of the paths of pictures (PNG, JPEG, PPM), relative to the table's folder"),
        field<"caption">(&o::caption, "column of the captions"),
        field<"examples">(&o::examples, "number of scenes to learn without --data").at_least(2),
        field<"held_out">(&o::held_out, "number of other scenes to measure without --data").at_least(1),
        field<"max_caption">(&o::max_caption, "tokens of a caption; default: the folder's, else 15").at_least(1),
        field<"beams">(&o::beams, "number of beams of the search for a caption").at_least(1),
        field<"length_penalty">(&o::length_penalty, "any number; above 1 favours long captions"));
  }
};

/// The data of a run, and what belongs to its model.
struct caption_task {
  captioned::pictures data;
  tokenizer::any_tokenizer tokenizer;
  pretrained::generation_config decoding;
  pretrained_folder const* folder = nullptr;  ///< Folder of the first weights; null: they are drawn
};

/// Trains a model and returns the exit code: 1 if the share of exact captions is below `bound`.
int learn(models::vision_encoder_decoder const& model, caption_task const& task, my_options const& o, double bound,
          std::string const& config) {
  pretrained::decoding_flags const asked{
      .max_new_tokens = o.max_caption, .beams = o.beams, .length_penalty = o.length_penalty};
  pretrained::generation_config const how = asked.over(task.decoding);
  if (how.sampling.temperature > 0)
    throw error(exit_code::data, o.model + ": captions are searched, not drawn; set \"do_sample\" to false");
  std::int64_t const start = how.ids.start.value_or(how.ids.padding);
  beam_options const search = how.search_options(1, 15);
  models::vit_config const& vit = model.config.encoder;
  std::int64_t const patch = vit.patch, patch_width = vit.patch_width(), columns = vit.image_width() / patch_width;

  auto const describe =
      collate([&](std::span<example const> some) {
        std::vector<at::Tensor> images;
        std::vector<seq2seq_example> captions;
        for (example const& one : some) {
          at::Tensor const image = captioned::seen(task.data.processor, task.data(one));
          if (one.covered >= 0) {
            std::int64_t const row = one.covered / columns * patch, column = one.covered % columns * patch_width;
            image.narrow(0, row, patch).narrow(1, column, patch_width).zero_();
          }
          images.push_back(image.permute({2, 0, 1}));
          captions.push_back({{},
                              text::shortened(tokenizer::ended(task.tokenizer.encode(one.caption), how.ids.stop),
                                              search.max_new_tokens)});
        }
        seq2seq_batch batch = seq2seq_batch_of(captions, start, how.ids.padding);
        batch.source = at::stack(images);
        return batch;
      }) |
      loss([](auto const& net, seq2seq_batch const& b) {
        return cross_entropy(net(b.decoder_ids, encoder_input{b.source}), b.labels);
      }) |
      predict([&](auto const& net, seq2seq_batch const& b) {
        auto const seeing = net.with(encoder_input{b.source});
        at::Tensor const log_p = nn::log_probabilities(seeing(b.decoder_ids), b.labels).to(at::kCPU, at::kFloat);
        at::Tensor const starts = at::full({b.source.size(0), 1}, start, at::kLong);
        std::vector<answer> answers;
        for (std::string& text : text::decoded_rows(task.tokenizer, beam_search(seeing, starts, search).ids)) {
          auto const* const row = log_p[std::ssize(answers)].const_data_ptr<float>();
          answers.push_back({std::move(text), {row, row + log_p.size(1)}});
        }
        return answers;
      });
  auto const scores = [](std::span<example const> examples, std::span<answer const> answers) {
    std::vector<std::string> const written(answers.begin(), answers.end()), captions(examples.begin(), examples.end());
    double rouge = 0;
    for (std::size_t i = 0; i < written.size(); ++i) rouge += metrics::rouge_l(written[i], captions[i]).f;
    return options::metric_map{{"exact_match", metrics::exact_match(written, captions)},
                               {"rouge_l", rouge / static_cast<double>(written.size())}};
  };

  auto const train = task.data.examples(false, o.examples), held_out = task.data.examples(true, o.held_out);
  deployer where(o.deployer);
  redco::log::list_unused(where.log(), "generation_config.json", how.unused);
  trainer learner(where, model, describe, o.training);
  if (task.folder != nullptr) learner.start_from(*task.folder);
  auto const result = learner.fit(
      train, {.eval = held_out, .metrics = scores, .save_argmin = {}, .save_argmax = {"rouge_l"}, .config = config});
  if (task.folder != nullptr) learner.save_model(where.workdir() / "model", task.folder->save_options());

  std::vector<example> sample(held_out.begin(), held_out.begin() + std::min<std::int64_t>(24, std::ssize(held_out)));
  std::vector<report::picture_tile> sheet;
  for (answer const& one : predictor(learner).predict(sample, o.training.global_batch))
    sheet.push_back(captioned::tile_of(task.data(sample[sheet.size()]), one.written));
  where.keep_images("captions", sheet, result.steps);
  std::vector<example> covered(static_cast<std::size_t>(vit.tokens()), held_out[0]);
  for (std::size_t i = 1; i < covered.size(); ++i) covered[i].covered = static_cast<std::int64_t>(i) - 1;
  auto const tiles = captioned::likely_patches(held_out[0], task.data(held_out[0]), columns, task.tokenizer,
                                               predictor(learner).predict(covered, o.training.global_batch));
  where.keep_picture("attention", report::contact_sheet(tiles, "patches that make the words likely"));

  auto const metric = [&](char const* name) { return std::to_string(result.evaluation.at(name)); };
  where.conclude("exact captions " + metric("exact_match") + (bound > 0 ? " (bound 0.95)" : "") + ", ROUGE-L " +
                 metric("rouge_l") + ", held-out loss " + metric("loss"));
  return result.evaluation.at("exact_match") >= bound ? 0 : 1;
}

/// Trains a small model from random weights, with a tokenizer made from the training captions.
int learn_from_scratch(captioned::pictures data, my_options const& o, double bound, std::string const& config) {
  std::vector<example> const train = data.examples(false, o.examples);
  word_tokenizer const tokenizer(std::vector<std::string>(train.begin(), train.end()), 8000);
  models::vision_encoder_decoder const model{
      {{.image = scenes::side, .patch = 8, .width = 64, .ffn = 256, .heads = 4, .layers = 2, .deviation = 0.1},
       {.vocab = tokenizer.vocabulary_size(), .context = 256, .width = 64, .heads = 4, .layers = 2, .deviation = 0.1}}};
  pretrained::generation_config decoding;
  decoding.ids = {.stop = {tokenizer.end}, .padding = tokenizer.padding, .start = tokenizer.padding};
  decoding.search = {.stop_ids = {tokenizer.end}, .pad = tokenizer.padding};
  // Means near the background's make the shapes stand out.
  data.processor.mean = {0.15, 0.15, 0.15};
  data.processor.deviation = {0.25, 0.25, 0.25};
  return learn(model, {data, tokenizer, decoding}, o, bound, config);
}

int main(int argc, char** argv) {
  return main_of<my_options>(argc, argv, "Trains a model to describe pictures.", [](my_options o, auto const& given) {
    if (o.data.empty() != o.eval.empty())
      throw error(exit_code::usage, "--data and --eval belong together: give both or none");
    auto const read = [&](data::image_processor const& by) {
      auto const table = [&](std::string const& path) { return data::read_image_table(path, o.image, o.caption); };
      if (o.data.empty()) return captioned::pictures{o.deployer.seed};
      return captioned::pictures{0, by, table(o.data), table(o.eval)};
    };
    my_options const standard;
    bool const as_stated =
        o.model.empty() && o.data.empty() && o.training == standard.training && o.examples == standard.examples;
    if (o.model.empty())
      return learn_from_scratch(read({.height = scenes::side, .width = scenes::side}), o, as_stated ? 0.95 : 0,
                                options::to_json(o));
    pretrained_folder const folder(o.model);
    if (!given.given("lr")) o.training.lr = 5e-5;
    auto const& model = folder.model<models::vision_encoder_decoder>();
    models::vit_config const& vit = model.config.encoder;
    data::image_processor const by =
        pretrained::read_image_processor(folder.folder() / "preprocessor_config.json", vit.image, vit.image_width());
    caption_task const task{read(by), folder.tokenizer(), folder.generation(), &folder};
    return learn(model, task, o, 0, options::to_json(o));
  });
}
