// Continues prompts with any decoder of a Hugging Face folder: config, weights and tokenizer are read at run time.
//
//   generate --model FOLDER --prompt "Once upon a time" --n-model-shards 2 --temperature 0.8 --top-p 0.95

#include <redco/run/inference.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/text/decoded_rows.hpp>
#include <redco/text/padded_ids.hpp>
#include <redco/nn/nn.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/log/list_unused.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>
#include <redco/tokenizer/text_stream.hpp>

#include <iostream>
#include <optional>

struct my_options {
  redco::deployer_options deployer;
  std::string model;
  std::vector<std::string> prompt;
  std::int64_t global_batch = 8;
  std::optional<std::int64_t> max_new_tokens, top_k, beams;  // what is not given is as the model's folder says
  std::optional<double> temperature, top_p, min_p, repetition_penalty, length_penalty;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"),
        redco::required_field<"model">(&o::model, "folder of config.json, safetensors and tokenizer"),
        redco::required_field<"prompt">(&o::prompt, "texts to continue"),
        redco::field<"max_new_tokens">(&o::max_new_tokens,
                                       "tokens at most behind each prompt; 64 where the folder says nothing"),
        redco::field<"temperature">(&o::temperature, "0: the most likely token, else draw"),
        redco::field<"top_k">(&o::top_k, "draw from the k most likely; 0: from all"),
        redco::field<"top_p">(&o::top_p, "draw from the fewest that have this probability together"),
        redco::field<"min_p">(&o::min_p, "draw from those this many times as likely as the likeliest"),
        redco::field<"repetition_penalty">(&o::repetition_penalty, "above 1: shun what is there already"),
        redco::field<"beams">(&o::beams, "more than 1: search with so many beams instead of drawing"),
        redco::field<"length_penalty">(&o::length_penalty, "of a beam's length: above 1 favours long ones"),
        redco::field<"global_batch">(&o::global_batch, "prompts at once, over all ranks"));
  }
};

/// What the model's folder says, overruled by what is given.
redco::generation_config decoding_of(redco::generation_config how, my_options const& o) {
  bool const filters = o.top_k || o.top_p || o.min_p, draws = o.temperature || filters;
  how.search.beams = o.beams.value_or(draws ? 1 : how.search.beams);
  how.sampling.temperature = o.temperature.value_or(how.sampling.temperature);
  if (draws && how.search.beams > 1)
    throw redco::error(redco::exit_code::usage,
                       "a search with --beams draws nothing: leave out --temperature, --top-k, --top-p and --min-p, or "
                       "take --beams 1");
  if (filters && how.sampling.temperature == 0)
    throw redco::error(redco::exit_code::usage,
                       "--top-k, --top-p and --min-p say what is drawn from, but nothing is drawn: give --temperature");
  if (o.length_penalty && how.search.beams == 1)
    throw redco::error(redco::exit_code::usage, "--length-penalty judges beams, but there is one: give --beams");
  how.sampling.top_k = o.top_k.value_or(how.sampling.top_k);
  how.sampling.top_p = o.top_p.value_or(how.sampling.top_p);
  how.sampling.min_p = o.min_p.value_or(how.sampling.min_p);
  how.search.length_penalty = o.length_penalty.value_or(how.search.length_penalty);
  how.search.repetition_penalty = how.sampling.repetition_penalty =
      o.repetition_penalty.value_or(how.sampling.repetition_penalty);
  if (o.max_new_tokens) how.max_new_tokens = o.max_new_tokens;
  return how;
}

template <class Model>
void continue_prompts(Model const& model, redco::pretrained const& folder, my_options const& o) {
  redco::any_tokenizer const& tokenizer = folder.tokenizer();
  redco::generation_config how = decoding_of(folder.generation(), o);
  bool const searches = how.search.beams > 1, streams = o.prompt.size() == 1 && !searches;
  redco::text_stream shown(tokenizer);
  if (streams)
    how.sampling.on_tokens = [&](std::span<std::int64_t const> next) {
      std::cout << shown.put(next.front()) << std::flush;
      return true;
    };

  auto const continuation = redco::collate([&](std::span<std::string const> prompts) {
                              std::vector<std::vector<std::int64_t>> rows;
                              for (std::string const& prompt : prompts) rows.push_back(tokenizer.encode(prompt));
                              return redco::padded_in_front(rows, how.ids.padding);
                            }) |
                            redco::predict([&](auto const& net, redco::padded_ids const& prompts) {
                              auto const masked = net.with(redco::key_mask{prompts.mask});
                              std::int64_t const length = prompts.ids.size(1);
                              at::Tensor const all =
                                  searches ? redco::beam_search(masked, prompts.ids, how.search_behind(length, 64)).ids
                                           : redco::generate(masked, prompts.ids, how.sampling_behind(length, 64));
                              return redco::decoded_rows(tokenizer, all, length);
                            });
  redco::deployer deployer(o.deployer);
  redco::log::list_unused(deployer.log(), "config.json", folder.unused());
  redco::log::list_unused(deployer.log(), "generation_config.json", how.unused);
  redco::inference const loaded(deployer, model, continuation, folder.weights());
  if (streams) std::cout << o.prompt.front() << std::flush;
  auto const texts = redco::predictor(loaded).predict(o.prompt, o.global_batch);
  if (streams) std::cout << shown.finish() << std::endl;
  if (!streams)
    for (std::size_t i = 0; i < texts.size(); ++i) deployer.log().banner(o.prompt[i], {}, texts[i]);
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Continues prompts with a decoder.", [](my_options const& o) {
    redco::pretrained const folder(o.model);
    folder.visit<redco::decoders>([&](auto const& model) { continue_prompts(model, folder, o); });
  });
}
