#pragma once

namespace redco {

/// How ids become a text.
struct decode_options {
  bool keep_special = false;  ///< write special tokens, such as "<|endoftext|>", instead of leaving them out
};

}  // namespace redco
