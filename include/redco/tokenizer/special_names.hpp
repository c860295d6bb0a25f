#pragma once

#include <string>

namespace redco {

/// Contents of the tokens that begin, end or pad a text or replace unknown text, as named by
/// tokenizer_config.json. An empty name means no such token.
struct special_names {
  std::string begin = {};
  std::string end = {};
  std::string padding = {};
  std::string unknown = {};
};

}  // namespace redco
