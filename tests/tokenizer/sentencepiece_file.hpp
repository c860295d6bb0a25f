#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// A SentencePiece model, written as a protocol buffer (sentencepiece_model.proto).
class sentencepiece_file {
 public:
  enum type { normal = 1, unknown = 2, control = 3, user_defined = 4, byte = 6 };

  void add(std::string_view piece, float score, type kind = normal) {
    std::string fields = text(1, piece) + tag(2, 5);
    char bytes[sizeof score];
    std::memcpy(bytes, &score, sizeof score);
    fields.append(bytes, sizeof score) += number(3, kind);
    pieces_ += text(1, fields);
  }

  /// Returns a unigram model, or BPE with byte fallback. `tidy`: repeated spaces become one, and
  /// spaces at the ends are removed.
  std::string bytes(bool bpe, bool tidy) const {
    std::string const trainer = number(3, bpe ? 2 : 1) + number(35, bpe ? 1 : 0) + number(41, 1) + number(42, 2);
    std::string const normalizer = text(1, "identity") + number(3, 1) + number(4, tidy ? 1 : 0) + number(5, 1);
    return pieces_ + text(2, trainer) + text(3, normalizer);
  }

 private:
  static std::string varint(std::uint64_t n) {
    std::string out;
    for (; n >= 128; n /= 128) out += static_cast<char>(n % 128 + 128);
    return out + static_cast<char>(n);
  }
  static std::string tag(unsigned field, unsigned wire) { return varint(field * 8 + wire); }
  static std::string number(unsigned field, unsigned value) { return tag(field, 0) + varint(value); }
  static std::string text(unsigned field, std::string_view value) {
    return tag(field, 2) + varint(value.size()) + std::string(value);
  }

  std::string pieces_;
};
