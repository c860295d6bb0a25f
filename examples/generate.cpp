// Continues prompts with any decoder of a Hugging Face folder: config, weights and tokenizer are read at run time.
//
//   generate --model FOLDER --prompt "Once upon a time" --n-model-shards 2 --temperature 0.8 --top-p 0.95

#include <redco/run/inference.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/generate/token_ids.hpp>
#include <redco/text/decoded_rows.hpp>
#include <redco/text/padded_ids.hpp>
#include <redco/text/read_tokenizer.hpp>
#include <redco/text/text_stream.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/any_stored_names.hpp>
#include <redco/model/from_config.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>

#include <iostream>

struct my_options {
  redco::deployer_options deployer;
  std::string model;
  std::vector<std::string> prompt;
  std::int64_t max_new_tokens = 64, top_k = 0, beams = 1, global_batch = 8;
  double temperature = 0, top_p = 1, min_p = 0, repetition_penalty = 1, length_penalty = 1;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"),
        redco::required_field<"model">(&o::model, "folder of config.json, safetensors and tokenizer"),
        redco::required_field<"prompt">(&o::prompt, "texts to continue"),
        redco::field<"max_new_tokens">(&o::max_new_tokens, "tokens at most behind each prompt"),
        redco::field<"temperature">(&o::temperature, "0: the most likely token, else draw"),
        redco::field<"top_k">(&o::top_k, "draw from the k most likely; 0: from all"),
        redco::field<"top_p">(&o::top_p, "draw from the fewest that have this probability together"),
        redco::field<"min_p">(&o::min_p, "draw from those this many times as likely as the likeliest"),
        redco::field<"repetition_penalty">(&o::repetition_penalty, "above 1: shun what is there already"),
        redco::field<"beams">(&o::beams, "more than 1: search with so many beams"),
        redco::field<"length_penalty">(&o::length_penalty, "of a beam's length: above 1 favours long ones"),
        redco::field<"global_batch">(&o::global_batch, "prompts at once, over all ranks"));
  }
};

template <class Model>
void continue_prompts(Model const& model, my_options const& o) {
  redco::any_tokenizer const tokenizer = redco::read_tokenizer(o.model);
  redco::token_ids const special = redco::read_token_ids(o.model);
  bool const streams = o.prompt.size() == 1 && o.beams == 1;
  redco::text_stream shown(tokenizer);
  redco::generate_options how{.max_new_tokens = o.max_new_tokens,
                              .temperature = o.temperature,
                              .top_k = o.top_k,
                              .top_p = o.top_p,
                              .min_p = o.min_p,
                              .repetition_penalty = o.repetition_penalty,
                              .stop_ids = special.stop,
                              .pad = special.padding};
  if (streams)
    how.on_tokens = [&](std::span<std::int64_t const> next) {
      std::cout << shown.put(next.front()) << std::flush;
      return true;
    };
  redco::beam_options const search{.max_new_tokens = o.max_new_tokens,
                                   .beams = o.beams,
                                   .length_penalty = o.length_penalty,
                                   .repetition_penalty = o.repetition_penalty,
                                   .stop_ids = special.stop,
                                   .pad = special.padding};

  auto const continuation = redco::collate([&](std::span<std::string const> prompts) {
                              std::vector<std::vector<std::int64_t>> rows;
                              for (std::string const& prompt : prompts) rows.push_back(tokenizer.encode(prompt));
                              return redco::padded_in_front(rows, special.padding);
                            }) |
                            redco::predict([&](auto const& net, redco::padded_ids const& prompts) {
                              auto const masked = net.template with<redco::key_mask>(prompts.mask);
                              at::Tensor const all = o.beams > 1 ? redco::beam_search(masked, prompts.ids, search).ids
                                                                 : redco::generate(masked, prompts.ids, how);
                              return redco::decoded_rows(tokenizer, all, prompts.ids.size(1));
                            });
  redco::deployer deployer(o.deployer);
  redco::inference const loaded(deployer, model, continuation, o.model);
  if (streams) std::cout << o.prompt.front() << std::flush;
  auto const texts = redco::predictor(loaded).predict(o.prompt, o.global_batch);
  if (streams) std::cout << shown.finish() << std::endl;
  if (!streams)
    for (std::size_t i = 0; i < texts.size(); ++i) deployer.log().banner(o.prompt[i], {}, texts[i]);
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Continues prompts with a decoder.", [](my_options const& o) {
    std::visit([&](auto const& model) { continue_prompts(model, o); },
               redco::from_config<redco::decoders>(o.model).model);
  });
}
