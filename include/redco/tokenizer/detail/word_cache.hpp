#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// A cache of the token ids of recent short words, with a fixed size of 1 MiB. Each word has one
/// slot and replaces the previous word in this slot. Threads share the cache without waiting: a
/// word counts as not cached while another thread uses its slot.
class word_cache {
 public:
  word_cache() : slots_(new slot[count]) {}

  /// Appends the token ids of `word` to `ids` and returns true if the cache contains `word`.
  /// Otherwise returns false.
  bool find(std::string_view word, std::vector<std::int64_t>& ids) const {
    if (word.size() > longest) return false;
    slot& s = slot_of(word);
    if (s.busy.test_and_set(std::memory_order_acquire)) return false;
    bool const found = s.size == word.size() && std::memcmp(s.text, word.data(), word.size()) == 0;
    if (found) ids.insert(ids.end(), s.ids, s.ids + s.ids_count);
    s.busy.clear(std::memory_order_release);
    return found;
  }

  void keep(std::string_view word, std::span<std::int64_t const> ids) const {
    if (word.empty() || word.size() > longest || ids.size() > most_ids) return;
    slot& s = slot_of(word);
    if (s.busy.test_and_set(std::memory_order_acquire)) return;
    s.size = static_cast<std::uint8_t>(word.size());
    std::memcpy(s.text, word.data(), word.size());
    s.ids_count = static_cast<std::uint8_t>(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) s.ids[i] = static_cast<std::uint32_t>(ids[i]);
    s.busy.clear(std::memory_order_release);
  }

 private:
  static constexpr std::size_t count = 1 << 14;
  static constexpr std::size_t longest = 24;
  static constexpr std::size_t most_ids = 9;

  struct alignas(64) slot {
    std::atomic_flag busy;
    std::uint8_t size = 0;  // bytes of the word; 0 for an empty slot
    std::uint8_t ids_count = 0;
    char text[longest];
    std::uint32_t ids[most_ids];
  };
  static_assert(sizeof(slot) == 64);

  slot& slot_of(std::string_view word) const {
    std::uint64_t hash = word.size();
    std::uint64_t part = 0;
    for (; word.size() >= sizeof part; word.remove_prefix(sizeof part)) {
      std::memcpy(&part, word.data(), sizeof part);
      hash = mixed(hash ^ part);
    }
    part = 0;
    std::memcpy(&part, word.data(), word.size());
    return slots_[mixed(hash ^ part) % count];
  }

  static std::uint64_t mixed(std::uint64_t x) {
    x *= 0x9E3779B97F4A7C15U;
    return x ^ x >> 32;
  }

  std::unique_ptr<slot[]> slots_;
};

}  // namespace redco::tokenizer::detail
