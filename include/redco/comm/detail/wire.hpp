#pragma once

#include <redco/diag/exit_code.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

/// Formats of the bytes that processes connected by TCP send each other, and checks of received
/// bytes. All functions are pure.
namespace redco::comm::detail::wire {

static_assert(std::endian::native == std::endian::little, "numbers travel as they lie in memory");

/// Version of the protocol. Increase it with each change of the format: processes of different
/// versions do not join.
inline constexpr std::uint32_t protocol = 1;

/// A message that opens a handshake. No line of HTTP, TLS or ssh begins with its mark.
struct greeting {
  static constexpr std::array<char, 8> right_mark = {'r', 'e', 'd', 'c', 'o', '\r', '\n', '\x1a'};

  std::array<char, 8> mark = right_mark;
  std::uint32_t version = protocol;
  /// Purpose of the connection. 0: to meet at process 0; 1: to link two processes that have met.
  std::uint32_t links = 0;
  std::int32_t process = 0, processes = 1;
  std::array<std::uint8_t, 16> nonce = {};
  std::array<std::uint8_t, 32> run = {};  ///< digest that identifies this run
};
static_assert(sizeof(greeting) == 72);

/// A header of each message after the handshake.
struct message_head {
  static constexpr std::uint32_t right_mark = 0x6f636472;

  std::int64_t bytes = 0;  ///< number of bytes that follow
  std::int32_t tag = 0;    ///< 0 or more: tensor data; negative: control message
  std::uint32_t mark = right_mark;
};
static_assert(sizeof(message_head) == 16);

inline constexpr std::int32_t notice_tag = -1, leave_tag = -2, alive_tag = -3;
inline constexpr std::int64_t most_message = std::int64_t{1} << 40, most_notice_text = 1 << 16;
inline constexpr std::size_t most_place = 512;  ///< largest length of place_text() in bytes

struct notice_head {
  std::uint64_t run = 0;
  std::int32_t code = 0, ended_rank = 0;
};
static_assert(sizeof(notice_head) == 16);

struct notice {
  std::uint64_t run = 0;
  exit_code code = exit_code::done;
  int ended_rank = 0;
  std::string text = {};
};

/// An address at which other processes reach a process, and the name of its host.
struct place {
  std::string address = {};
  int port = 0;  ///< 0 if no process calls this process
  std::string host = {};
  bool operator==(place const&) const = default;
};

/// A table of addresses that process 0 sends to all processes when they have met.
struct table {
  std::string session = {};  ///< random text that identifies this meeting
  std::vector<place> places = {};
};

template <class T>
std::string bytes_of(T const& x) {
  return {reinterpret_cast<char const*>(&x), sizeof x};
}

/// Returns the object at the beginning of `bytes`, which must have at least sizeof(T) bytes.
template <class T>
T read(std::string_view bytes) {
  T x;
  std::memcpy(&x, bytes.data(), sizeof x);
  return x;
}

/// Returns true if `bytes` (at most as long as the mark) can be the beginning of a greeting.
inline bool may_greet(std::string_view bytes) {
  std::string_view const mark(greeting::right_mark.data(), greeting::right_mark.size());
  return mark.substr(0, bytes.size()) == bytes.substr(0, mark.size());
}

/// Returns a description of what is wrong with a message header, or an empty text if it is valid.
inline std::string fault_of(message_head const& head) {
  std::string const bytes = std::to_string(head.bytes), tag = std::to_string(head.tag);
  if (head.mark != message_head::right_mark) return "bytes that are no message header";
  if (head.tag < alive_tag) return "a message of the unknown kind " + tag;
  std::int64_t const head_bytes = sizeof(notice_head);
  bool const fits = head.tag == notice_tag ? head.bytes >= head_bytes && head.bytes <= head_bytes + most_notice_text
                    : head.tag < 0         ? head.bytes == 0
                                           : head.bytes >= 0 && head.bytes <= most_message;
  return fits ? "" : "a message of kind " + tag + " and " + bytes + " bytes";
}

inline bool is_exit_code(std::int32_t code) {
  switch (static_cast<exit_code>(code)) {
    case exit_code::done:
    case exit_code::missed:
    case exit_code::usage:
    case exit_code::data:
    case exit_code::peer_lost:
    case exit_code::internal:
    case exit_code::io:
    case exit_code::preempted:
    case exit_code::rendezvous:
    case exit_code::not_finite: return true;
  }
  return false;
}

inline std::string notice_text(notice const& one) {
  return bytes_of(notice_head{one.run, static_cast<std::int32_t>(one.code), one.ended_rank}) +
         one.text.substr(0, most_notice_text);
}

/// Returns the notice that `bytes` encode, or nothing if `bytes` are no valid notice. `least_ended`
/// is the smallest legal value of ended_rank.
inline std::optional<notice> read_notice(std::string_view bytes, int least_ended) {
  if (bytes.size() < sizeof(notice_head) || bytes.size() > sizeof(notice_head) + most_notice_text) return {};
  auto const head = read<notice_head>(bytes);
  if (!is_exit_code(head.code) || head.ended_rank < least_ended) return {};
  return notice{head.run, static_cast<exit_code>(head.code), head.ended_rank, std::string(bytes.substr(sizeof head))};
}

inline std::string place_text(place const& one) {
  std::string host = one.host.substr(0, 255);
  for (char& letter : host)
    if (letter <= ' ' || letter > '~') letter = '?';
  return one.address + ' ' + std::to_string(one.port) + ' ' + (host.empty() ? "?" : host);
}

/// Returns the place that `text` encodes, or nothing if `text` is not three words, the second of
/// them a port.
inline std::optional<place> read_place(std::string_view text) {
  if (text.size() > most_place) return {};
  for (char const letter : text)
    if (letter < ' ' || letter > '~') return {};
  std::size_t const first = text.find(' '), second = text.find(' ', first + 1);
  if (first == 0 || first == std::string_view::npos || second == std::string_view::npos) return {};
  std::string_view const port = text.substr(first + 1, second - first - 1), host = text.substr(second + 1);
  place one{std::string(text.substr(0, first)), 0, std::string(host)};
  auto const [end, failure] = std::from_chars(port.data(), port.data() + port.size(), one.port);
  if (failure != std::errc() || end != port.data() + port.size() || one.port < 0 || one.port > 65'535) return {};
  if (host.empty() || host.find(' ') != std::string_view::npos) return {};
  return one;
}

/// Returns the largest length in bytes of the text of a table.
inline std::size_t most_table(int processes) { return (static_cast<std::size_t>(processes) + 1) * (most_place + 1); }

inline std::string table_text(table const& all) {
  std::string text = all.session + '\n';
  for (place const& one : all.places) text += place_text(one) + '\n';
  return text;
}

/// Returns the table that `text` encodes, or nothing if `text` is invalid. Its first line is the
/// session, one word; `processes` lines with one place each follow.
inline std::optional<table> read_table(std::string_view text, int processes) {
  table all;
  for (int line = 0; line <= processes; ++line) {
    std::size_t const end = text.find('\n');
    if (end == std::string_view::npos || end == 0) return {};
    if (line == 0) {
      all.session = text.substr(0, end);
      if (all.session.find(' ') != std::string::npos) return {};
    } else {
      std::optional<place> one = read_place(text.substr(0, end));
      if (!one) return {};
      all.places.push_back(*std::move(one));
    }
    text.remove_prefix(end + 1);
  }
  if (!text.empty()) return {};
  return all;
}

}  // namespace redco::comm::detail::wire
