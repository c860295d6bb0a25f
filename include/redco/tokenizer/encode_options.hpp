#pragma once

namespace redco {

/// How a text becomes ids.
struct encode_options {
  bool add_special = true;  ///< put the ids around the text that the tokenizer's file asks for, such as [CLS] and [SEP]
  bool find_special =
      true;  ///< read "<|endoftext|>" within the text as that token; off for text that nobody vouches for
};

}  // namespace redco
