#pragma once

#include <redco/diag/error.hpp>

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

/// Version of the byte format. Increase it with each change of the format, because processes of
/// different versions refuse to connect.
inline constexpr std::uint32_t protocol = 1;

/// The first message in a handshake between two processes. Its first eight bytes, `mark`, begin no
/// line of HTTP, TLS or ssh.
struct greeting {
  static constexpr std::array<char, 8> right_mark = {'r', 'e', 'd', 'c', 'o', '\r', '\n', '\x1a'};

  std::array<char, 8> mark = right_mark;
  std::uint32_t version = protocol;
  /// Purpose of the connection: 0 to join the run at process 0, 1 to connect two processes that
  /// have joined.
  std::uint32_t links = 0;
  std::int32_t process = 0, processes = 1;
  std::array<std::uint8_t, 16> nonce = {};
  std::array<std::uint8_t, 32> run = {};  ///< SHA-256 digest that identifies the run of the program
};
static_assert(sizeof(greeting) == 72);

/// The header that precedes each message after the handshake.
struct message_head {
  static constexpr std::uint32_t right_mark = 0x6f636472;

  std::int64_t bytes = 0;  ///< number of bytes of the message after this header
  /// Tag of the message: 0 or more for tensor data, negative for a control message.
  std::int32_t tag = 0;
  std::uint32_t mark = right_mark;
};
static_assert(sizeof(message_head) == 16);

inline constexpr std::int32_t notice_tag = -1, leave_tag = -2, alive_tag = -3;
inline constexpr std::int64_t most_message = std::int64_t{1} << 40, most_notice_text = 1 << 16;
/// Largest length in bytes of the text of an `endpoint` (the address of a process).
inline constexpr std::size_t most_endpoint = 512;

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

/// The address at which other processes connect to a process, and the name of its host.
struct endpoint {
  std::string address = {};
  int port = 0;  ///< TCP port, or 0 if no process connects to this process
  std::string host = {};
  bool operator==(endpoint const&) const = default;
};

/// A table of the addresses of all processes. Process 0 sends it to every process after all
/// processes have connected.
struct table {
  std::string session = {};  ///< random text that identifies the run, equal in all processes
  std::vector<endpoint> endpoints = {};
};

template <class T>
std::string bytes_of(T const& x) {
  return {reinterpret_cast<char const*>(&x), sizeof x};
}

/// Returns the object of type T that is stored in the first sizeof(T) bytes of `bytes`. Requires at
/// least that many bytes.
template <class T>
T read(std::string_view bytes) {
  T x;
  std::memcpy(&x, bytes.data(), sizeof x);
  return x;
}

/// Returns true if the bytes received so far can begin a greeting, because they agree with the
/// fixed first bytes of a greeting (`mark`). Requires that `bytes` is not longer than the mark.
inline bool may_greet(std::string_view bytes) {
  std::string_view const mark(greeting::right_mark.data(), greeting::right_mark.size());
  return mark.substr(0, bytes.size()) == bytes.substr(0, mark.size());
}

/// Returns a text that says why a message header is invalid, or an empty text if it is valid.
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

/// Returns the notice (message about a failure or an ended rank) that `bytes` encode, or nothing if
/// `bytes` are invalid. `least_ended` is the smallest legal value of notice::ended_rank.
inline std::optional<notice> read_notice(std::string_view bytes, int least_ended) {
  if (bytes.size() < sizeof(notice_head) || bytes.size() > sizeof(notice_head) + most_notice_text) return {};
  auto const head = read<notice_head>(bytes);
  if (!is_exit_code(head.code) || head.ended_rank < least_ended) return {};
  return notice{head.run, static_cast<exit_code>(head.code), head.ended_rank, std::string(bytes.substr(sizeof head))};
}

inline std::string endpoint_text(endpoint const& one) {
  std::string host = one.host.substr(0, 255);
  for (char& letter : host)
    if (letter <= ' ' || letter > '~') letter = '?';
  return one.address + ' ' + std::to_string(one.port) + ' ' + (host.empty() ? "?" : host);
}

/// Returns the address that `text` encodes in the form of endpoint_text(): "address port host".
/// Returns nothing if `text` has another form.
inline std::optional<endpoint> read_endpoint(std::string_view text) {
  if (text.size() > most_endpoint) return {};
  for (char const letter : text)
    if (letter < ' ' || letter > '~') return {};
  std::size_t const first = text.find(' '), second = text.find(' ', first + 1);
  if (first == 0 || first == std::string_view::npos || second == std::string_view::npos) return {};
  std::string_view const port = text.substr(first + 1, second - first - 1), host = text.substr(second + 1);
  endpoint one{std::string(text.substr(0, first)), 0, std::string(host)};
  auto const [end, failure] = std::from_chars(port.data(), port.data() + port.size(), one.port);
  if (failure != std::errc() || end != port.data() + port.size() || one.port < 0 || one.port > 65'535) return {};
  if (host.empty() || host.find(' ') != std::string_view::npos) return {};
  return one;
}

/// Returns the maximum number of bytes of table_text() for `processes` processes: one line for the
/// session and one line per process.
inline std::size_t most_table(int processes) { return (static_cast<std::size_t>(processes) + 1) * (most_endpoint + 1); }

inline std::string table_text(table const& all) {
  std::string text = all.session + '\n';
  for (endpoint const& one : all.endpoints) text += endpoint_text(one) + '\n';
  return text;
}

/// Returns the addresses of all processes that `text` encodes in the form of table_text(), or
/// nothing if `text` is invalid. The first line is table::session, a text without spaces. One line
/// per process follows.
inline std::optional<table> read_table(std::string_view text, int processes) {
  table all;
  for (int line = 0; line <= processes; ++line) {
    std::size_t const end = text.find('\n');
    if (end == std::string_view::npos || end == 0) return {};
    if (line == 0) {
      all.session = text.substr(0, end);
      if (all.session.find(' ') != std::string::npos) return {};
    } else {
      std::optional<endpoint> one = read_endpoint(text.substr(0, end));
      if (!one) return {};
      all.endpoints.push_back(*std::move(one));
    }
    text.remove_prefix(end + 1);
  }
  if (!text.empty()) return {};
  return all;
}

}  // namespace redco::comm::detail::wire
