#include "run/machines.hpp"
#include "sharded.hpp"

#include <redco/nn/stage_link.hpp>
#include <redco/nn/stage_transfer.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/comm/ticket.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>

#include <cstdint>
#include <vector>

namespace {

using sharded::must;

at::Tensor numbers(std::int64_t tokens, double first) {
  return at::arange(first, first + static_cast<double>(2 * tokens * 64), at::kDouble).view({2, tokens, 64});
}

/// Bytes that rank 0 sent to the next stage.
struct sent_bytes {
  std::int64_t of_all = 0, of_hidden = 0;
};

/// Sends hidden states, with and without the encoder's states, from stage 0 to stage 1.
sent_bytes sent_on(int machines, bool later) {
  pretended_machines const some(machines);
  sent_bytes found;
  redco::comm::run_ranks({.pp = 2, .dp = 1, .tp = 2}, {.threads = 1}, [&](redco::rank_context& rank) {
    redco::nn::stage_transfer const transfer(rank);
    int const stage = rank.coordinate(redco::shape::axis::pp);
    auto const passed = [&](bool with_states, int tag) {
      redco::nn::stage_tensors all;
      all.hidden = stage == 0 ? numbers(80, 1) : at::zeros({2, 80, 64}, at::kDouble);
      if (with_states) all.states = stage == 0 ? numbers(96, 7) : at::zeros({2, 96, 64}, at::kDouble);
      auto const bytes = [&] { return transfer.stages().counters()[redco::shape::collective::send].payload_bytes; };
      std::int64_t const before = bytes();
      if (stage == 1) {
        transfer.receive(all, 0, tag);
      } else if (later) {
        std::vector<redco::comm::ticket> tickets = transfer.send_later(all, 1, tag);
        for (redco::comm::ticket& one : tickets) transfer.stages().wait(one);
      } else {
        transfer.send(all, 1, tag);
      }
      must(all.hidden.equal(numbers(80, 1)), "the hidden states arrive");
      must(!with_states || all.states.equal(numbers(96, 7)), "the encoder's states arrive");
      return bytes() - before;
    };
    std::int64_t const hidden = passed(false, 1), both = passed(true, 2);
    if (rank.rank == 0) found = {both, hidden};
  });
  return found;
}

}  // namespace

TEST_CASE("hidden states and the encoder's states pass between machines in parts, and within a machine whole") {
  std::int64_t const hidden = 2 * 80 * 64 * 8, states = 2 * 96 * 64 * 8;
  for (bool const later : {false, true}) {
    sent_bytes const whole = sent_on(1, later), parts = sent_on(2, later);
    CHECK(whole.of_hidden == hidden);
    CHECK(whole.of_all == hidden + states);
    CHECK(parts.of_hidden == hidden / 2);
    CHECK(parts.of_all == (hidden + states) / 2);
  }
}
