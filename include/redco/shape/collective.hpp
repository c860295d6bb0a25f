#pragma once

#include <redco/meta/enum_texts.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::shape {

/// Kinds of communication call of a group of ranks. Plans, counters and messages of errors use
/// them.
enum class collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send,
  recv,
  barrier,
};

inline constexpr auto collective_texts = meta::enum_texts<collective>({
    {collective::all_reduce, "all_reduce"},
    {collective::all_gather, "all_gather"},
    {collective::reduce_scatter, "reduce_scatter"},
    {collective::all_to_all, "all_to_all"},
    {collective::broadcast, "broadcast"},
    {collective::send, "send"},
    {collective::recv, "recv"},
    {collective::barrier, "barrier"},
});

/// Number of values of the enumeration `collective`.
inline constexpr std::size_t collectives = collective_texts.size();

/// Returns the name of a kind of communication call, such as "all_reduce".
constexpr std::string_view name_of(collective kind) { return collective_texts.text_of(kind); }

/// Returns the bytes that one of `ranks` ranks sends in a ring all-reduce of `payload` bytes
/// (Patarasuk and Yuan 2009). For n ranks this is 2 (n - 1) / n of the payload, rounded up: a
/// reduce-scatter and an all-gather.
constexpr std::int64_t all_reduce_ring_bytes(std::int64_t payload, int ranks) {
  return 2 * payload - 2 * payload / ranks;
}

/// Returns the bytes that one of `ranks` ranks sends in a ring all_gather, reduce_scatter or
/// all_to_all. For n ranks this is (n - 1) / n of `payload`, the bytes of the complete value.
constexpr std::int64_t gather_ring_bytes(std::int64_t payload, int ranks) { return payload / ranks * (ranks - 1); }

/// Returns the bytes that one of `ranks` ranks sends in one call of kind `kind`, by ring
/// algorithms. For a broadcast or a send, these are the bytes of a rank that sends.
constexpr std::int64_t ring_bytes(collective kind, std::int64_t payload, int ranks) {
  switch (kind) {
    case collective::all_reduce: return all_reduce_ring_bytes(payload, ranks);
    case collective::all_gather:
    case collective::reduce_scatter:
    case collective::all_to_all: return gather_ring_bytes(payload, ranks);
    case collective::broadcast:
    case collective::send: return payload;
    case collective::recv:
    case collective::barrier: return 0;
  }
  return 0;
}

}  // namespace redco::shape
