#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace redco {

/// The tokens of a vocabulary that stand for no text, where they are known.
struct special_ids {
  std::optional<std::int64_t> begin = {};    ///< of a text (bos)
  std::optional<std::int64_t> end = {};      ///< of a text (eos): where generation stops
  std::optional<std::int64_t> padding = {};  ///< fills short rows of a batch
  std::optional<std::int64_t> unknown = {};  ///< what no other token covers
  std::vector<std::int64_t> all = {};        ///< ascending; decoding leaves them out
};

}  // namespace redco
