#pragma once

#include <string>

namespace redco {

/// Which tokens play which part (see special_ids), as tokenizer_config.json tells; empty: none does.
struct special_names {
  std::string begin = {};
  std::string end = {};
  std::string padding = {};
  std::string unknown = {};
};

}  // namespace redco
