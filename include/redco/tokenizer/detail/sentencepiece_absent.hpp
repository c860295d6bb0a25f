#pragma once

#ifndef REDCO_WITH_SENTENCEPIECE

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// A replacement for the class `sentencepiece_model` in builds without the SentencePiece library.
/// The constructor throws `error` with exit code 65.
class sentencepiece_model {
 public:
  static constexpr bool available = false;

  explicit sentencepiece_model(std::filesystem::path const& file, bool = true) {
    throw error(exit_code::data, file.string() +
                                     " needs SentencePiece; install libsentencepiece-dev, configure again and "
                                     "rebuild");
  }

  std::vector<int> encode(std::string_view) const { return {}; }
  int size() const { return 0; }
  std::string piece(int) const { return {}; }
  bool is_control(int) const { return false; }
  bool is_unknown(int) const { return false; }
  bool is_byte(int) const { return false; }
  int begin_id() const { return -1; }
  int end_id() const { return -1; }
  int padding_id() const { return -1; }
  int unknown_id() const { return -1; }
};

}  // namespace redco::tokenizer::detail

#endif
