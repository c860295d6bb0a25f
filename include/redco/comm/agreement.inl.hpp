#pragma once

#include <redco/comm/agreement.hpp>

#include <redco/comm/group.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/changed_settings.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace redco::comm {

REDCO_INLINE std::string agreement::difference(group& ranks, std::string_view member) const {
  collective_label const label("values that all ranks must have in common");
  constexpr std::int64_t none = 0;
  auto digest = std::bit_cast<std::int64_t>(safetensors::xxh64::of(workdir::object_bytes(values_)));
  if (digest == none) digest = 1;
  at::Tensor const digests = ranks.all_gather(at::full({1}, abstains_ ? none : digest, at::kLong), 0);
  auto const agrees = [&, first = digests[0].item<std::int64_t>()](std::int64_t rank) {
    auto const found = digests[rank].item<std::int64_t>();
    return found == first || found == none;
  };
  std::int64_t other = 1;
  while (other < digests.numel() && agrees(other)) ++other;
  if (other >= digests.numel()) return "";
  std::string const own = workdir::object_bytes(std::pair(origin_, values_));
  auto const of_rank = [&](std::int64_t rank) {
    std::pair<std::string, std::vector<std::pair<std::string, std::string>>> read;
    workdir::read_object(broadcast_text(ranks, own, static_cast<int>(rank)), read, noun_);
    agreement one(noun_, cure_, code_);
    one.origin_ = std::move(read.first);
    one.values_ = std::move(read.second);
    return one;
  };
  auto const named = [&](std::int64_t rank) {
    return std::string(member) + " " + std::to_string(rank) + on_host_of_rank(static_cast<int>(rank));
  };
  agreement const first = of_rank(0), second = of_rank(other);
  return first.difference_to(second, named(0), named(other));
}

REDCO_INLINE void agreement::check(group& ranks) const {
  if (std::string const text = difference(ranks); !text.empty()) throw error(code_, text);
}

/// Returns a sentence that lists the values in which this agreement and `other` differ: up to
/// eight, then the number of further ones. `self` and `peer` name the two ranks.
/// Example: "rank 0 on n1 and rank 1 on n2 have different settings: seed is 1 and 2: start ...".
REDCO_INLINE std::string agreement::difference_to(agreement const& other, std::string const& self,
                                                  std::string const& peer) const {
  // Limits of a message: number of values, bytes of each value.
  constexpr std::size_t most = 8, most_bytes = 200;
  constexpr char const* absent = "absent";
  std::string list;
  std::size_t count = 0;
  auto const cut = [](std::string const& text) {
    return text.size() <= most_bytes ? text : text.substr(0, most_bytes) + "...";
  };
  auto const tell = [&](std::string const& name, std::string const& here, std::string const& there) {
    if (++count > most) return;
    list += (list.empty() ? "" : "; ") + name + " is " + cut(here) + " and " + cut(there);
  };
  std::map<std::string, std::string> left(other.values_.begin(), other.values_.end());
  for (auto const& [name, text] : values_) {
    auto const found = left.find(name);
    if (found == left.end()) tell(name, workdir::differing_part(text, ""), absent);
    else if (found->second != text)
      tell(name, workdir::differing_part(text, found->second), workdir::differing_part(found->second, text));
    if (found != left.end()) left.erase(found);
  }
  for (auto const& [name, text] : left) tell(name, absent, workdir::differing_part(text, ""));
  if (count > most) list += "; and " + std::to_string(count - most) + " more";
  auto const with_origin = [](std::string const& who, std::string const& origin) {
    return origin.empty() ? who : who + " with " + origin;
  };
  return with_origin(self, origin_) + " and " + with_origin(peer, other.origin_) + " have different " + noun_ + ": " +
         list + ": " + cure_;
}

}  // namespace redco::comm
