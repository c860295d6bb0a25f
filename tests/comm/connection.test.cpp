#include "catch.hpp"

#include <redco/comm/detail/connection.hpp>
#include <redco/comm/detail/socket.hpp>
#include <redco/comm/detail/wire.hpp>
#include <redco/diag/error.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

// Messages over a TCP connection. The test acts as the other process.

namespace connection_test {

namespace detail = redco::comm::detail;
namespace wire = redco::comm::detail::wire;

TEST_CASE("a connection that breaks still delivers the last messages of its other end") {
  auto const doors = detail::socket::listening("127.0.0.1", 0);
  REQUIRE(doors.size() == 1);
  detail::socket peer = detail::socket::connected("127.0.0.1", doors.front().port(), std::chrono::seconds(5));
  REQUIRE(doors.front().readable(5'000));
  detail::connection own(doors.front().accepted());
  wire::notice const last{.run = 3, .code = redco::exit_code::data, .ended_rank = 1, .text = "no more text"};
  std::string const text = wire::notice_text(last);
  wire::message_head const head{.bytes = static_cast<std::int64_t>(text.size()), .tag = wire::notice_tag};
  std::string const all = wire::bytes_of(head) + text;
  REQUIRE(::send(peer.number(), all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
  linger const at_once{.l_onoff = 1, .l_linger = 0};  // closing resets the connection
  REQUIRE(::setsockopt(peer.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
  peer = detail::socket();
  pollfd reset{own.number(), 0, 0};
  REQUIRE(::poll(&reset, 1, 5'000) == 1);

  own.tell(wire::alive_tag, "");
  CHECK_FALSE(own.has_output());
  std::vector<wire::notice> heard;
  own.read(-2, [&](wire::notice const& one) { heard.push_back(one); });
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].run == 3);
  CHECK(heard[0].code == redco::exit_code::data);
  CHECK(heard[0].text == "no more text");
  CHECK_FALSE(own.open());
  CHECK(own.fault().empty());
}

}  // namespace connection_test
