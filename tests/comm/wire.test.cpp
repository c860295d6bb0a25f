#include "catch.hpp"

#include <redco/comm/detail/handshake.hpp>
#include <redco/comm/detail/secrets.hpp>
#include <redco/comm/detail/wire.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

// The messages that processes joined by TCP send each other, without a socket.

namespace wire_test {

using namespace redco::comm::detail;

std::string hex(digest const& x) {
  std::string text;
  for (std::uint8_t const byte : x) (text += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
  return text;
}

TEST_CASE("SHA-256 and HMAC give the values of FIPS 180-4 and RFC 4231") {
  CHECK(hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex(sha256(std::string(1'000'000, 'a'))) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hex(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(equal_secrets("abc", "abc"));
  CHECK_FALSE(equal_secrets("abc", "abd"));
  CHECK_FALSE(equal_secrets("abc", "ab"));
}

wire::message_head head(std::int32_t tag, std::int64_t bytes) { return {.bytes = bytes, .tag = tag}; }

TEST_CASE("a message header needs plausible lengths, a known kind and the mark") {
  CHECK(wire::fault_of(head(7, 0)).empty());
  CHECK(wire::fault_of(head(7, wire::most_message)).empty());
  CHECK(wire::fault_of(head(7, -5)) == "a message of kind 7 and -5 bytes");
  CHECK(wire::fault_of(head(7, std::int64_t{1} << 61)) == "a message of kind 7 and 2305843009213693952 bytes");
  CHECK(wire::fault_of(head(7, std::numeric_limits<std::int64_t>::min())) != "");
  CHECK(wire::fault_of(head(wire::notice_tag, 3)) == "a message of kind -1 and 3 bytes");
  CHECK(wire::fault_of(head(wire::notice_tag, 16)).empty());
  CHECK(wire::fault_of(head(wire::notice_tag, 16 + wire::most_notice_text)).empty());
  CHECK(wire::fault_of(head(wire::notice_tag, 17 + wire::most_notice_text)) != "");
  CHECK(wire::fault_of(head(wire::leave_tag, 0)).empty());
  CHECK(wire::fault_of(head(wire::leave_tag, 1)) != "");
  CHECK(wire::fault_of(head(wire::alive_tag, 0)).empty());
  CHECK(wire::fault_of(head(-4, 0)) == "a message of the unknown kind -4");
  wire::message_head torn = head(7, 3);
  torn.mark ^= 1;
  CHECK(wire::fault_of(torn) == "bytes that are no message header");
}

TEST_CASE("a notice is read back unchanged; shorter, longer and meaningless bytes are refused") {
  wire::notice const sent{77, redco::exit_code::not_finite, 5, "the loss of step 5 is NaN"};
  auto const back = wire::read_notice(wire::notice_text(sent), -2);
  REQUIRE(back);
  CHECK((back->run == 77 && back->code == sent.code && back->ended_rank == 5 && back->text == sent.text));
  for (std::size_t bytes = 0; bytes < 16; ++bytes)
    CHECK_FALSE(wire::read_notice(wire::notice_text(sent).substr(0, bytes), -2));
  CHECK(wire::read_notice(wire::notice_text({1, redco::exit_code::done, -2, ""}), -2));
  CHECK_FALSE(wire::read_notice(wire::notice_text({1, redco::exit_code::done, -3, ""}), -2));
  CHECK_FALSE(wire::read_notice(wire::notice_text({1, static_cast<redco::exit_code>(63), 0, ""}), -2));
  CHECK(wire::notice_text({1, redco::exit_code::done, 0, std::string(100'000, 'x')}).size() == 16 + 65'536);
  CHECK_FALSE(wire::read_notice(std::string(16 + 65'537, '\0'), -2));
}

TEST_CASE("addresses and their table are read back unchanged, each with a port and a name") {
  wire::endpoint const here{"fe80::1", 29'500, "node1"};
  CHECK(wire::read_endpoint(wire::endpoint_text(here)) == here);
  CHECK(wire::endpoint_text({"::1", 0, "a b\n"}) == "::1 0 a?b?");
  CHECK(wire::endpoint_text({"::1", 0, ""}) == "::1 0 ?");
  for (std::string const& text :
       {std::string(), std::string("a"), std::string("a 1"), std::string("a 1 "), std::string(" 1 b"),
        std::string("a 65536 b"), std::string("a -1 b"), std::string("a 1x b"), std::string("a  b"),
        std::string("a 1 b c"), std::string("a 1 b\n"), "a 1 " + std::string(600, 'b')})
    CHECK_FALSE(wire::read_endpoint(text));
  wire::table const all{"5e55", {here, {"10.7.0.2", 65'535, "node2"}}};
  std::string const text = wire::table_text(all);
  auto const back = wire::read_table(text, 2);
  REQUIRE(back);
  CHECK((back->session == all.session && back->endpoints == all.endpoints));
  CHECK_FALSE(wire::read_table(text, 1));
  CHECK_FALSE(wire::read_table(text, 3));
  CHECK_FALSE(wire::read_table(text + "x", 2));
  CHECK_FALSE(wire::read_table(text.substr(1 + text.find('\n')), 1));
  CHECK_FALSE(wire::read_table("\n" + text, 2));
  wire::table const longest{std::string(32, '5'),
                            std::vector<wire::endpoint>(3, {std::string(45, '1'), 65'535, std::string(300, 'h')})};
  CHECK(wire::table_text(longest).size() <= wire::most_table(3));
  CHECK(wire::read_table(wire::table_text(longest), 3));
}

wire::greeting greeting(int process, std::uint8_t nonce) {
  wire::greeting one;
  one.process = process;
  one.processes = 3;
  one.nonce.fill(nonce);
  one.run = sha256("a run");
  return one;
}

/// Passes bytes between both sides, `step` at a time, until neither sends more.
void talk(handshake& caller, handshake& door, std::size_t step = 1'000) {
  auto const pass = [&](handshake& from, handshake& to) {
    std::string const all = from.take_output();
    for (std::string_view rest = all; !rest.empty() && to.wanted() > 0;) {
      std::size_t const bytes = std::min({step, to.wanted(), rest.size()});
      to.take(rest.substr(0, bytes));
      rest.remove_prefix(bytes);
    }
    return !all.empty();
  };
  while (pass(caller, door) || pass(door, caller)) {
  }
}

TEST_CASE("two processes of one run authenticate each other in pieces of any size and exchange their texts") {
  for (std::size_t const step : {1u, 7u, 1'000u})
    for (std::string const& answer : {std::string("the table"), std::string()}) {
      handshake caller = handshake::calling(greeting(2, 1), "key", 0, "my text", 9);
      handshake door = handshake::answering(greeting(0, 2), "key", 1);
      talk(caller, door, step);
      CHECK((door.asked() && door.process() == 2 && door.text() == "my text"));
      CHECK_FALSE(caller.asked());
      CHECK(caller.greeted());
      door.answer(answer);
      talk(caller, door, step);
      CHECK((caller.asked() && caller.process() == 0 && caller.text() == answer));
      CHECK((caller.wanted() == 0 && door.wanted() == 0));
    }
}

/// Returns the error that the accepting side reports to a caller from another run.
std::string fault(wire::greeting const& its, std::string const& key, int least = 1) {
  handshake caller = handshake::calling(its, key, 0, "", 0), door = handshake::answering(greeting(0, 2), "key", least);
  talk(caller, door);
  CHECK_FALSE(door.asked());
  CHECK_FALSE(caller.asked());
  return door.fault();
}

TEST_CASE("a process with another secret, run, number of processes, protocol or purpose is refused") {
  CHECK(fault(greeting(2, 1), "another key") == "it does not know the secret of this run");
  CHECK(fault(greeting(2, 1), "key", 3) == "it is process 2, which is not the one that is meant");
  CHECK(fault(greeting(0, 1), "key") == "it is process 0, which is not the one that is meant");
  CHECK(fault(greeting(3, 1), "key") == "it is process 3, which is not the one that is meant");
  CHECK(fault(greeting(-1, 1), "key") == "it is process -1, which is not the one that is meant");
  wire::greeting other = greeting(2, 1);
  other.run = sha256("another run");
  CHECK(fault(other, "key") == "it belongs to another run");
  other = greeting(2, 1);
  other.links = 1;
  CHECK(fault(other, "key") == "it belongs to another run");
  other = greeting(2, 1);
  other.processes = 4;
  CHECK(fault(other, "key") == "it has a number of processes of 4, this process 3");
  other = greeting(2, 1);
  ++other.version;
  CHECK(fault(other, "key") == "it has redco's protocol 2, this process 1");
}

TEST_CASE("a listener sends nothing to a program that is not redco and stops reading at the first wrong byte") {
  for (std::string const& text : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01\x02", 4),
                                  std::string(4, '\0'), std::string("redco\r\n\0", 8), std::string("redcx")}) {
    handshake door = handshake::answering(greeting(0, 2), "key", 1);
    door.take(text);
    CHECK(door.take_output().empty());
    CHECK(door.fault() == "the program that answers there is not redco");
    CHECK(door.wanted() == 0);
  }
}

TEST_CASE("a text longer than expected is refused before it is read") {
  handshake caller = handshake::calling(greeting(2, 1), "key", 0, std::string(600, 'x'), 0);
  handshake door = handshake::answering(greeting(0, 2), "key", 1);
  talk(caller, door);
  CHECK(door.fault() == "it sends a text of 600 bytes");
  handshake short_caller = handshake::calling(greeting(2, 1), "key", 0, "", 3);
  handshake open = handshake::answering(greeting(0, 2), "key", 1);
  talk(short_caller, open);
  open.answer("four");
  talk(short_caller, open);
  CHECK(short_caller.fault() == "it sends a text of 4 bytes");
}

TEST_CASE("an answer from another meeting and a reflected proof are refused") {
  handshake first = handshake::calling(greeting(2, 1), "key", 0, "text", 0);
  handshake door = handshake::answering(greeting(0, 2), "key", 1);
  std::string const hello = first.take_output();
  door.take(hello);
  first.take(door.take_output());
  std::string const proof = first.take_output();
  handshake again = handshake::answering(greeting(0, 3), "key", 1);  // another nonce
  again.take(hello);
  again.take(std::string_view(proof).substr(0, again.wanted()));
  again.take(std::string_view(proof).substr(proof.size() - again.wanted()));
  CHECK(again.fault() == "it does not know the secret of this run");

  // A stranger without the key sends a caller's own words back to the caller.
  handshake caller = handshake::calling(greeting(0, 1), "key", 0, "", 0);
  std::string const own = caller.take_output();
  caller.take(own);
  caller.take(caller.take_output());
  CHECK(caller.fault() == "it does not know the secret of this run");
}

TEST_CASE("a changed text fails the proof of the original text") {
  handshake caller = handshake::calling(greeting(2, 1), "key", 0, "10.0.0.1 80 a", 0);
  handshake door = handshake::answering(greeting(0, 2), "key", 1);
  door.take(caller.take_output());
  caller.take(door.take_output());
  std::string proof = caller.take_output();
  proof.back() = 'b';
  door.take(std::string_view(proof).substr(0, 36));
  door.take(std::string_view(proof).substr(36));
  CHECK(door.fault() == "it does not know the secret of this run");
}

}  // namespace wire_test
