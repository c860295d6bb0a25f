#pragma once

#include <cstdint>
#include <vector>

namespace redco {

/// How a decoder continues its prompts.
struct generate_options {
  std::int64_t max_new_tokens = 32;
  double temperature = 0;  ///< 0: the most likely token; else tokens are drawn from softmax(logits / temperature)
  std::int64_t top_k = 0;  ///< draw from the k most likely only; 0: from all
  std::vector<std::int64_t> stop_ids = {};  ///< a row that has produced one of these produces `pad` from then on
  std::int64_t pad = 0;
  std::int64_t forced_end = -1;  ///< the id that the last of max_new_tokens takes; -1: none
};

}  // namespace redco
