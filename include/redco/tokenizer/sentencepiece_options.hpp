#pragma once

namespace redco {

/// The special tokens around a text, which a model of SentencePiece does not tell.
struct sentencepiece_options {
  bool add_begin = false;  ///< LLaMA-2
  bool add_end = false;    ///< T5
};

}  // namespace redco
