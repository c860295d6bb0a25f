// Reads any bytes as a greeting, head, notice, endpoint or table of a process that joins by TCP.
// Nothing outside the bytes is read. An accepted message is written as it was read, and nobody
// without the key is accepted.
#include <redco/comm/detail/handshake.hpp>
#include <redco/comm/detail/wire.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace redco::comm::detail;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Feeds `bytes` to a handshake, in pieces whose size the first byte chooses.
void shake_hands(handshake one, std::string_view bytes) {
  std::size_t const piece = bytes.empty() ? 1 : static_cast<std::uint8_t>(bytes.front()) % 80 + 1;
  one.take_output();
  while (!bytes.empty() && one.wanted() > 0) {
    require(one.wanted() <= wire::most_table(3));
    std::string_view const next = bytes.substr(0, std::min(piece, one.wanted()));
    one.take(next);
    one.take_output();
    bytes.remove_prefix(next.size());
  }
  require(!one.asked());
  require(one.fault().empty() || one.wanted() == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  wire::greeting own;
  own.processes = 3;
  shake_hands(handshake::answering(own, "a key that no input has", 1), bytes);
  own.process = 2;
  shake_hands(handshake::calling(own, "a key that no input has", 0, "text", wire::most_table(3)), bytes);
  // The greeting that the accepting side expects, so that the bytes after it are reached.
  shake_hands(handshake::answering(wire::greeting{.processes = 3}, "a key that no input has", 1),
              wire::bytes_of(own) + std::string(bytes));

  if (size >= sizeof(wire::message_head)) {
    auto const head = wire::read<wire::message_head>(bytes);
    if (wire::fault_of(head).empty()) {
      require(head.bytes >= 0 && head.bytes <= wire::most_message && head.tag >= wire::alive_tag);
      require(head.tag != wire::notice_tag || head.bytes >= 16);
    }
  }
  if (auto const one = wire::read_notice(bytes, -2)) {
    require(one->ended_rank >= -2 && wire::is_exit_code(static_cast<std::int32_t>(one->code)));
    require(wire::notice_text(*one) == bytes);
  }
  if (auto const one = wire::read_endpoint(bytes)) {
    require(one->port >= 0 && one->port <= 65'535);
    if (one->host.size() <= 255) require(wire::read_endpoint(wire::endpoint_text(*one)) == one);
  }
  for (int processes = 1; processes < 4; ++processes)
    if (auto const all = wire::read_table(bytes, processes)) {
      require(all->endpoints.size() == static_cast<std::size_t>(processes));
      for (wire::endpoint const& one : all->endpoints) require(!one.address.empty() && !one.host.empty());
    }
  return 0;
}
