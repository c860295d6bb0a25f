#pragma once

#include <redco/comm/group.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::comm {

/// Sends the text of rank `root` to all ranks of the group and returns it on each rank. The text
/// may have any length. All ranks of the group must call this function.
std::string broadcast_text(group& ranks, std::string const& text, int root = 0);

/// Returns the argument `text` of all ranks, in rank order. Texts may have any length. All ranks of
/// the group must call this function.
std::vector<std::string> gather_texts(group& ranks, std::string const& text);

/// A set of named values that must be equal on all ranks of a run, for example settings, sizes, and
/// digests of data. check() compares the values of all ranks.
///
///   comm::agreement values("settings", "start all processes by the same command");
///   values.add("optimizer.lr", "0.001");
///   values.check(rank.world);
class agreement {
 public:
  /// Creates an agreement without values. `noun` is a plural noun for its values in messages, such
  /// as "settings". `cure` is advice to the user for the message. `code` is the exit code of the
  /// error that check() throws.
  agreement(std::string noun, std::string cure, exit_code code = exit_code::usage)
      : noun_(std::move(noun)), cure_(std::move(cure)), code_(code) {}

  /// Adds a value `text` under `name`. Each name may be added only once. Messages list differences
  /// in the order in which the values were added.
  void add(std::string name, std::string text) { values_.emplace_back(std::move(name), std::move(text)); }
  void add(std::map<std::string, std::string> const& values, std::string const& prefix = {}) {
    for (auto const& [name, text] : values) add(prefix + name, text);
  }

  /// Excludes the values of this rank from the comparison. Use it if another rank contributes the
  /// same values, for example if one rank read them for the whole process. The excluded rank must
  /// still call check(). Rank 0 must not abstain.
  void abstain() { abstains_ = true; }

  /// Sets the origin of this rank's values, such as the path of a folder, which messages then name.
  /// Ranks may have different origins.
  void from(std::string origin) { origin_ = std::move(origin); }

  exit_code code() const { return code_; }

  /// Returns a sentence about the first rank whose values differ from the values of rank 0, with
  /// both ranks, hosts and values. Returns an empty text if all ranks agree. Every rank of the
  /// group must call this function and gets the same text. If all agree, each rank sends only 8
  /// bytes. `member` is the noun for a rank in the sentence.
  std::string difference(group& ranks, std::string_view member = "rank") const;

  /// Throws `error` on every rank if the values of two ranks differ. The error has the text of
  /// difference() and the exit code given to the constructor. Every rank of the group must call
  /// this function.
  void check(group& ranks) const;

 private:
  std::string difference_to(agreement const& other, std::string const& self, std::string const& peer) const;

  std::string noun_, cure_;
  exit_code code_;
  bool abstains_ = false;
  std::string origin_ = {};
  std::vector<std::pair<std::string, std::string>> values_ = {};
};

inline std::string broadcast_text(group& ranks, std::string const& text, int root) {
  collective_label const label("a text");
  at::Tensor const size = at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong);
  ranks.broadcast(size, root);
  at::Tensor const bytes = at::empty({size.item<std::int64_t>()}, at::kByte);
  if (ranks.rank() == root && !text.empty()) std::memcpy(bytes.data_ptr(), text.data(), text.size());
  ranks.broadcast(bytes, root);
  return {static_cast<char const*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel())};
}

inline std::vector<std::string> gather_texts(group& ranks, std::string const& text) {
  auto const length = static_cast<std::int64_t>(text.size());
  at::Tensor const lengths = ranks.all_gather(at::full({1}, length, at::kLong), 0);
  std::int64_t const longest = lengths.max().item<std::int64_t>();
  at::Tensor const padded = at::zeros({std::max<std::int64_t>(longest, 1)}, at::kByte);
  std::memcpy(padded.data_ptr(), text.data(), text.size());
  at::Tensor const all = ranks.all_gather(padded, 0);
  std::vector<std::string> texts;
  for (std::int64_t rank = 0; rank < ranks.size(); ++rank) {
    auto const* const first = static_cast<char const*>(all.data_ptr()) + rank * padded.numel();
    texts.emplace_back(first, static_cast<std::size_t>(lengths[rank].item<std::int64_t>()));
  }
  return texts;
}

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/agreement.inl.hpp>
#endif
