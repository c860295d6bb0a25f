#pragma once

#include <string>

namespace redco::tokenizer {

/// A set of contents of special tokens, as named by tokenizer_config.json: the tokens that begin,
/// end or pad a text or replace unknown text. An empty string means that there is no such token.
struct special_names {
  std::string begin = {};
  std::string end = {};
  std::string padding = {};
  std::string unknown = {};
};

}  // namespace redco::tokenizer
