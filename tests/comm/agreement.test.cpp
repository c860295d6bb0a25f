#include "comm/laws.hpp"
#include "comm/on_ranks.hpp"

#include <redco/comm/agreement.hpp>
#include <redco/shape/collective.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace agreement_test {

using comm_test::failure_of;
using comm_test::must;
using comm_test::on_ranks;
using redco::rank_context;
using redco::comm::agreement;

using values = std::vector<std::pair<std::string, std::string>>;

agreement of(values const& all, redco::exit_code code = redco::exit_code::usage) {
  agreement made("settings", "start them alike", code);
  for (auto const& [name, text] : all) made.add(name, text);
  return made;
}

TEST_CASE("ranks that agree exchange eight bytes") {
  on_ranks(3, [](rank_context& me) {
    me.world.reset_counters();
    must(of({{"b", "2"}, {"a", "1"}}).difference(me.world).empty(), "they agree");
    auto const& gathered = me.world.counters()[redco::shape::collective::all_gather];
    must(gathered.calls == 1 && gathered.payload_bytes == 24, std::to_string(gathered.payload_bytes));
    must(me.world.counters()[redco::shape::collective::broadcast].calls == 0, "no texts");
    of({}).check(me.world);
  });
  on_ranks(1, [](rank_context& me) { of({{"a", "1"}}).check(me.world); });
}

TEST_CASE("all ranks name the first rank that differs from rank 0, with both values in order") {
  on_ranks(4, [](rank_context& me) {
    std::string const rate = me.rank == 2 ? "0.5" : "0.25", mesh = me.rank == 3 ? "4x1" : "2x2";
    std::string const text = of({{"rate", rate}, {"same", "x"}, {"mesh", mesh}}).difference(me.world);
    must(text == "rank 0 and rank 2 have different settings: rate is 0.25 and 0.5: start them alike", text);
    std::string const two =
        of({{"z", me.rank == 1 ? "1" : "2"}, {"a", me.rank == 1 ? "" : "3"}}).difference(me.world, "process");
    must(two == "process 0 and process 1 have different settings: z is 2 and 1; a is 3 and : start them alike", two);
  });
}

TEST_CASE("an abstaining rank is not compared, and messages name the first rank that does not abstain") {
  on_ranks(4, [](rank_context& me) {
    agreement own = of(me.rank % 2 == 1 ? values{} : values{{"a", "1"}});
    if (me.rank % 2 == 1) own.abstain();
    must(own.difference(me.world).empty(), "ranks 0 and 2 agree");
    agreement other = of(me.rank % 2 == 1 ? values{} : values{{"a", std::to_string(me.rank)}});
    if (me.rank % 2 == 1) other.abstain();
    std::string const text = other.difference(me.world);
    must(text == "rank 0 and rank 2 have different settings: a is 0 and 2: start them alike", text);
  });
}

TEST_CASE("a value that one rank lacks or has under another name is reported as absent there") {
  on_ranks(2, [](rank_context& me) {
    values const own = me.rank == 0 ? values{{"a", "1"}, {"b", "2"}} : values{{"b", "2"}, {"c", "3"}};
    std::string const text = of(own).difference(me.world);
    must(text == "rank 0 and rank 1 have different settings: a is 1 and absent; c is absent and 3: start them alike",
         text);
  });
}

TEST_CASE("adjacent values are not confused, and their order is part of the agreement") {
  on_ranks(2, [](rank_context& me) {
    must(!of({{"a", me.rank == 0 ? "12" : "1"}, {"b", me.rank == 0 ? "3" : "23"}}).difference(me.world).empty(),
         "borders");
  });
}

TEST_CASE("messages name the origins, which may differ, and cut long lists and long texts") {
  on_ranks(2, [](rank_context& me) {
    std::string const own = std::to_string(me.rank);
    agreement files = of({{"a", "1"}});
    files.from("/folder" + own);
    must(files.difference(me.world).empty(), "only the origin differs");
    std::map<std::string, std::string> many;
    for (char c = 'a'; c <= 'k'; ++c) many[std::string(1, c)] = own;
    many["a"] = std::string(80, 'x') + ", width " + own + "0 of all, " + std::string(80, 'y');
    files.add(many, "n.");
    std::string const text = files.difference(me.world);
    must(
        text ==
            "rank 0 with /folder0 and rank 1 with /folder1 have different settings: n.a is ...00... and ...10...; n.b is 0 and 1; "
            "n.c is 0 and 1; n.d is 0 and 1; n.e is 0 and 1; n.f is 0 and 1; n.g is 0 and 1; n.h is 0 and 1; and 3 more: "
            "start them alike",
        text);
  });
}

TEST_CASE("a long value is cut") {
  on_ranks(2, [](rank_context& me) {
    std::string const text = of({{"name", std::string(300, me.rank == 0 ? 'p' : 'q')}}).difference(me.world);
    must(text == "rank 0 and rank 1 have different settings: name is " + std::string(200, 'p') + "... and " +
                     std::string(200, 'q') + "...: start them alike",
         text);
  });
}

TEST_CASE("a difference ends every rank with the code of the agreement") {
  for (redco::exit_code const code : {redco::exit_code::usage, redco::exit_code::data}) {
    redco::error const failure = failure_of(3, [&](rank_context& me) {
      of({{"seed", me.rank == 0 ? "1" : "2"}}, code).check(me.world);
    });
    CHECK(failure.code() == code);
    CHECK(comm_test::mentions(failure, "rank 0 and rank 1 have different settings: seed is 1 and 2: start them alike"));
  }
}

}  // namespace agreement_test
