// Continues prompts with a decoder from a Hugging Face folder. The folder's config, weights and
// tokenizer are read at run time. With --chat, a prompt is a question, and the model answers it in
// the format of its chat template.
//
//   generate --model FOLDER --prompt "Once upon a time" --n-model-shards 2 --temperature 0.8
//   generate --model FOLDER --chat --system "Be brief." --prompt "What is a replica?"

#include <redco/pretrained.hpp>

#include <iostream>

struct my_options {
  redco::options::predicting_options deployer;
  redco::pretrained::decoding_flags decoding;
  std::string model;
  std::vector<std::string> prompt;
  bool chat = false;
  std::string system;
  std::int64_t global_batch = 8;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(redco::field<"deployer">(&o::deployer, "where to run"),
                         redco::required_field<"model">(&o::model, "folder of config.json, safetensors and tokenizer"),
                         redco::required_field<"prompt">(&o::prompt, "texts to continue"),
                         redco::field<"chat">(&o::chat, "answers the prompts, by the folder's chat template"),
                         redco::field<"system">(&o::system, "with --chat: message of the role system before a prompt"),
                         redco::field<"decoding">(&o::decoding, "how to continue them"),
                         redco::field<"global_batch">(&o::global_batch, "prompts at once, over all ranks").at_least(1));
  }
};

template <class Model>
void continue_prompts(Model const& model, redco::pretrained_folder const& folder, my_options const& o) {
  redco::tokenizer::any_tokenizer const& tokenizer = folder.tokenizer();
  redco::pretrained::generation_config how = o.decoding.over(folder.generation());
  if (!o.system.empty() && !o.chat)
    throw redco::error(redco::exit_code::usage, "--system is a message of a conversation: give --chat");
  auto const encoded = [&](std::string const& prompt) {
    if (!o.chat) return tokenizer.encode(prompt);
    std::vector<redco::tokenizer::chat_message> messages{{"user", prompt}};
    if (!o.system.empty()) messages.insert(messages.begin(), {"system", o.system});
    return tokenizer.encode(folder.chat_template().text(messages, true), {.add_special = false});
  };
  bool const searches = how.search.beams > 1, streams = o.prompt.size() == 1 && !searches;
  redco::tokenizer::text_stream shown(tokenizer);
  if (streams) {
    shown.skip(encoded(o.prompt.front()));
    how.sampling.on_tokens = [&](std::span<std::int64_t const> next) {
      std::cout << shown.put(next.front()) << std::flush;
      return true;
    };
  }

  auto const continuation = redco::collate([&](std::span<std::string const> prompts) {
                              std::vector<std::vector<std::int64_t>> rows;
                              for (std::string const& prompt : prompts) rows.push_back(encoded(prompt));
                              return redco::text::left_padded(rows, how.ids.padding);
                            }) |
                            redco::predict([&](auto const& net, redco::text::padded_ids const& prompts) {
                              auto const masked = net.with(redco::key_mask{prompts.mask});
                              std::int64_t const length = prompts.ids.size(1);
                              at::Tensor const all =
                                  searches ? redco::beam_search(masked, prompts.ids, how.search_options(length, 64)).ids
                                           : redco::generate(masked, prompts.ids, how.sampling_options(length, 64));
                              return redco::text::decoded_rows(tokenizer, all, length);
                            });
  redco::deployer deployer(o.deployer);
  redco::log::list_unused(deployer.log(), "generation_config.json", how.unused);
  redco::inference const loaded(deployer, model, continuation, folder);
  if (streams && !o.chat) std::cout << o.prompt.front() << std::flush;
  auto const texts = redco::predictor(loaded).predict(o.prompt, o.global_batch);
  if (streams) std::cout << shown.finish() << std::endl;
  else
    for (std::size_t i = 0; i < texts.size(); ++i) std::cout << "### " << o.prompt[i] << "\n\n" << texts[i] << "\n\n";
}

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Continues prompts with a decoder.", [](my_options const& o) {
    redco::pretrained_folder const folder(o.model);
    folder.visit<redco::models::decoders>([&](auto const& model) { continue_prompts(model, folder, o); });
  });
}
