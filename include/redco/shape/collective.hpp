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
constexpr std::string_view name_of(collective what) { return collective_texts.text_of(what); }

}  // namespace redco::shape
