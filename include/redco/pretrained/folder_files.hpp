#pragma once

#include <array>
#include <string_view>

namespace redco::pretrained {

/// Names of the files in a Hugging Face model folder, except the weights. The README.md of
/// pretrained/ lists which code reads each file.
inline constexpr std::array<std::string_view, 13> folder_files{"config.json",
                                                               "generation_config.json",
                                                               "tokenizer.json",
                                                               "tokenizer_config.json",
                                                               "tokenizer.model",
                                                               "spiece.model",
                                                               "special_tokens_map.json",
                                                               "added_tokens.json",
                                                               "vocab.json",
                                                               "vocab.txt",
                                                               "merges.txt",
                                                               "chat_template.jinja",
                                                               "preprocessor_config.json"};

}  // namespace redco::pretrained
