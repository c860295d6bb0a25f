#pragma once

#include <redco/ckpt/check_replicas.hpp>

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/part_holders.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace redco::ckpt::detail {

/// The numbers that each rank passes to a gather, by rank.
using numbers_of_ranks = std::vector<std::vector<std::uint64_t>>;

inline numbers_of_ranks gather_numbers(comm::group& world, std::vector<std::uint64_t> const& own) {
  numbers_of_ranks all;
  std::string bytes(own.size() * sizeof(std::uint64_t), '\0');
  if (!own.empty()) std::memcpy(bytes.data(), own.data(), bytes.size());
  for (std::string const& text : comm::gather_texts(world, bytes)) {
    all.emplace_back(text.size() / sizeof(std::uint64_t));
    if (!text.empty()) std::memcpy(all.back().data(), text.data(), text.size());
  }
  return all;
}

/// Returns the hash of the values of a part, without padding. Copies at most 64 MiB at once from
/// another device.
inline std::uint64_t digest_of(state_part const& part) {
  at::Tensor const values = held_values(part);
  safetensors::xxh64 hash;
  auto const add = [&](at::Tensor const& some) {
    at::Tensor const here = tensors::to_cpu(some).contiguous();
    hash.update(std::span(static_cast<std::byte const*>(here.const_data_ptr()), here.nbytes()));
  };
  if (values.dim() == 0) {
    add(values);
    return hash.digest();
  }
  std::int64_t const rows = values.size(0);
  auto const of_row = static_cast<std::int64_t>(values.nbytes()) / rows;
  std::int64_t const at_once = std::max<std::int64_t>((std::int64_t{64} << 20) / of_row, 1);
  for (std::int64_t begin = 0; begin < rows; begin += at_once)
    add(values.narrow(0, begin, std::min(at_once, rows - begin)));
  return hash.digest();
}

/// The ranks that hold one part, by the digest of their values.
using holders_by_digest = std::map<std::uint64_t, std::vector<int>>;

/// Returns the sentence about a part whose holders differ: about the first rank outside of the
/// largest group of ranks with equal values.
inline std::string difference_of(std::string const& tensor, holders_by_digest const& holders) {
  auto const most = std::max_element(holders.begin(), holders.end(), [](auto const& a, auto const& b) {
    return a.second.size() != b.second.size() ? a.second.size() < b.second.size() : a.second.front() > b.second.front();
  });
  int other = -1;
  for (auto one = holders.begin(); one != holders.end(); ++one)
    if (one != most && (other < 0 || one->second.front() < other)) other = one->second.front();
  auto const name = [](int rank) { return "rank " + std::to_string(rank) + comm::on_host_of_rank(rank); };
  return name(other) + " holds other values of " + tensor + " than " + name(most->second.front());
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

REDCO_INLINE void check_replicas(std::span<state_part const> parts, comm::group& world, std::int64_t step,
                                 workdir::disk_limits const& limits) {
  if (world.size() == 1) return;
  detail::disk_deadline const patient(world, limits);
  comm::collective_label const label("the comparison of replicas");
  std::vector<state_part const*> own;
  std::vector<std::uint64_t> own_keys;
  for (state_part const& part : parts) {
    detail::check_part(part);
    if (safetensors::count_of(part.box.shape) == 0) continue;
    own.push_back(&part);
    own_keys.push_back(static_cast<std::uint64_t>(workdir::hash_of_part(part.name, part.box)));
  }
  detail::numbers_of_ranks const keys = detail::gather_numbers(world, own_keys);
  std::unordered_map<std::uint64_t, int> holders;
  for (auto const& of_rank : keys)
    for (std::uint64_t const key : of_rank) ++holders[key];

  std::vector<std::uint64_t> own_digests;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (holders[own_keys[i]] > 1) own_digests.push_back(detail::digest_of(*own[i]));
  detail::numbers_of_ranks const digests = detail::gather_numbers(world, own_digests);

  std::unordered_map<std::uint64_t, detail::holders_by_digest> by_key;
  std::vector<std::uint64_t> different;  // in the order of the ranks' parts
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    std::size_t next = 0;
    for (std::uint64_t const key : keys[rank]) {
      if (holders[key] == 1) continue;
      detail::holders_by_digest& known = by_key[key];
      known[digests[rank][next++]].push_back(static_cast<int>(rank));
      if (known.size() == 2 && std::find(different.begin(), different.end(), key) == different.end())
        different.push_back(key);
    }
  }
  if (different.empty()) return;
  // Only the holders of the first such part know its name.
  std::string text;
  auto const first = std::find(own_keys.begin(), own_keys.end(), different.front());
  if (first != own_keys.end())
    text = detail::difference_of(own[static_cast<std::size_t>(first - own_keys.begin())]->name,
                                 by_key.at(different.front()));
  for (std::string const& one : comm::gather_texts(world, text)) {
    if (one.empty()) continue;
    throw error(exit_code::internal,
                "step " + std::to_string(step) + ": " + one + ", although replicas must be equal in each bit (" +
                    std::to_string(different.size()) + " of " + std::to_string(by_key.size()) +
                    " compared parts differ); nothing is saved. Resume from the checkpoint before; if it happens "
                    "again, check the memory of that rank's host");
  }
}

}  // namespace redco::ckpt
