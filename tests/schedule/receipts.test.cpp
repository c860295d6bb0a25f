#include "catch.hpp"

#include <redco/schedule/receipts.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace redco::schedule;

step_facts facts_of(pipeline_kind order, int stages, std::int64_t micros, int chunks = 1) {
  step_facts of{.micro_batches = micros, .rounds = micros, .full_rounds = micros, .schedule = order};
  of.stages = stages;
  of.chunks_per_stage = chunks;
  return of;
}

/// Returns receipts as text: each message of the stage, and after a colon those that have arrived.
std::string text_of(std::vector<receipt> const& all) {
  std::string text;
  auto const add = [&text](stage_message const& one) {
    text += std::to_string(one.from) + ">" + std::to_string(one.to) + " " + std::to_string(one.micro);
  };
  for (receipt const& one : all) {
    text += text.empty() ? "" : ", ";
    add(one.sent);
    text += ":";
    for (stage_message const& arrived : one.arrived) {
      text += " ";
      add(arrived);
    }
  }
  return text;
}

TEST_CASE("a message between stages confirms the messages that its sender had received") {
  // Stage 0: F0 F1 B0 F2 B1 B2. Stage 1: F0 B0 F1 B1 F2 B2.
  step_facts const two = facts_of(pipeline_kind::one_f_one_b, 2, 3);
  CHECK(text_of(receipts_of(two, 0, 1)) == "0>1 0:, 0>1 1:, 0>1 2: 1>0 0");
  CHECK(text_of(receipts_of(two, 1, 0)) == "1>0 0: 0>1 0, 1>0 1: 0>1 1, 1>0 2: 0>1 2");
}

TEST_CASE("under 1F1B at most one message to each neighbour is unconfirmed, once its first answer has come") {
  for (int stages = 2; stages <= 6; ++stages)
    for (int micros = 1; micros <= 12; ++micros)
      for (int stage = 0; stage + 1 < stages; ++stage) {
        INFO(stages << " stages, " << micros << " micro-batches, stage " << stage);
        // Forwards of the next stage before its first backward
        int const ahead = stages - stage - 2;
        auto const confirmed = [&](pipeline_kind order, int from, int to) {
          std::vector<int> sums;
          for (receipt const& one : receipts_of(facts_of(order, stages, micros), from, to))
            sums.push_back((sums.empty() ? 0 : sums.back()) + static_cast<int>(one.arrived.size()));
          return sums;
        };
        std::vector<int> hidden, gradients;
        for (int micro = 0; micro < micros; ++micro) {
          hidden.push_back(std::min(micro + 1 + ahead, micros));
          gradients.push_back(std::max(0, micro - ahead - 1));
        }
        CHECK(confirmed(pipeline_kind::one_f_one_b, stage + 1, stage) == hidden);
        CHECK(confirmed(pipeline_kind::one_f_one_b, stage, stage + 1) == gradients);
        CHECK(confirmed(pipeline_kind::gpipe, stage + 1, stage) == std::vector<int>(hidden.size(), micros));
        CHECK(confirmed(pipeline_kind::gpipe, stage, stage + 1) == std::vector<int>(hidden.size(), 0));
      }
}

TEST_CASE("interleaved stages confirm each message at most once, from the first stage to the last too") {
  for (int const stages : {2, 3, 4}) {
    step_facts const of = facts_of(pipeline_kind::interleaved, stages, 2 * stages, 2);
    std::size_t confirmed = 0;
    for (int from = 0; from < stages; ++from) {
      int const next = (from + 1) % stages, previous = (from + stages - 1) % stages;
      for (int const to : std::set<int>{next, previous}) {
        std::set<stage_message> seen;
        for (receipt const& one : receipts_of(of, from, to))
          for (stage_message const& arrived : one.arrived) {
            CHECK(arrived.from % stages == to);
            CHECK(arrived.to % stages == from);
            CHECK(seen.insert(arrived).second);
            ++confirmed;
          }
      }
    }
    // Two messages per micro-batch cross each of the 2 * stages - 1 edges between chunks. Some of
    // the last ones are not confirmed.
    CHECK(confirmed > static_cast<std::size_t>(2 * (2 * stages - 1) * 2 * stages) / 2);
  }
}

}  // namespace
