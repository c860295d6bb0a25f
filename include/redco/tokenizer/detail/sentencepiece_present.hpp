#pragma once

#ifdef REDCO_WITH_SENTENCEPIECE

#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <sentencepiece_processor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// A SentencePiece model loaded by the SentencePiece library.
class sentencepiece_model {
 public:
  static constexpr bool available = true;
  /// Maximum size in bytes of a SentencePiece model file: about 50 times the largest known models.
  static constexpr std::uint64_t most_bytes = 256 << 20;

  /// Loads a SentencePiece model file. If `adds_space` is false, the model puts no space before a
  /// text, even if the file asks for one.
  explicit sentencepiece_model(std::filesystem::path const& file, bool adds_space = true) {
    std::string bytes = diag::input_file(file).text(most_bytes);
    // The library accepts a model without pieces, but then looks pieces up in it
    bool const is_empty = bytes.empty();
    // The bytes encode normalizer_spec { add_dummy_prefix: false }. A later field of a protobuf
    // message replaces an earlier one.
    if (!adds_space) bytes += std::string("\x1a\x02\x18\x00", 4);
    if (auto const status = processor_.LoadFromSerializedProto(bytes); is_empty || !status.ok()) {
      throw error(exit_code::data, file.string() + " is no SentencePiece model (" + status.ToString() +
                                       "); fetch it again from where the weights come");
    }
  }

  std::vector<int> encode(std::string_view text) const {
    std::vector<int> ids;
    if (auto const status = processor_.Encode(text, &ids); !status.ok())
      throw error(exit_code::data, "SentencePiece refuses a text of " + std::to_string(text.size()) +
                                       " bytes: " + status.ToString() + "; cut it into smaller ones");
    return ids;
  }

  int size() const { return processor_.GetPieceSize(); }
  std::string piece(int id) const { return processor_.IdToPiece(id); }
  bool is_control(int id) const { return processor_.IsControl(id); }
  bool is_unknown(int id) const { return processor_.IsUnknown(id); }
  bool is_byte(int id) const { return processor_.IsByte(id); }
  // -1: no such token; applies to all four ids
  int begin_id() const { return processor_.bos_id(); }
  int end_id() const { return processor_.eos_id(); }
  int padding_id() const { return processor_.pad_id(); }
  int unknown_id() const { return processor_.unk_id(); }

 private:
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace redco::tokenizer::detail

#endif
