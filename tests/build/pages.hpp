#pragma once

// Objects that the statements on pages use: a language model with its pipeline and trainer, texts,
// and a Hugging Face folder.

#include <redco/redco.hpp>

#include <iostream>
#include <string>
#include <vector>

inline constexpr redco::gpt2 page_model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};

inline auto page_pipeline() {
  return redco::collate([](std::span<std::string const> texts) { return redco::next_token_batch(texts, 256); }) |
         redco::loss([](auto const& net, redco::token_batch const& b) {
           return redco::cross_entropy(net(b.input_ids), b.labels);
         }) |
         redco::predict([](auto const& net, redco::token_batch const& b) {
           return redco::generate(net, b.input_ids, {.max_new_tokens = 8});
         });
}

extern redco::gpt2 const model;
extern decltype(page_pipeline()) const lm;
extern redco::deployer deployer;
extern redco::trainer<redco::gpt2, decltype(page_pipeline())> trainer;
extern redco::pretrained_folder const folder;
extern std::vector<std::string> const train, dev, texts;
