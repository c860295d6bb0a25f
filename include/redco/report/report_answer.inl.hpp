#pragma once

#include <redco/report/report_answer.hpp>

#include <redco/options/value_text.hpp>
#include <redco/config.hpp>

#include <utility>

namespace redco::report::detail {

enum class run_change : unsigned { shards = 1, bf16 = 2, micro_batches = 4, recompute = 8 };

REDCO_INLINE std::vector<run_request> changed_requests(run_request const& asked, unsigned changes,
                                                       std::vector<int> const& widths) {
  auto const chosen = [&](run_change c) { return (changes & static_cast<unsigned>(c)) != 0; };
  std::vector<run_request> requests{asked};
  auto const each = [&](auto const& put) {
    std::vector<run_request> next;
    for (run_request const& r : requests) put(r, next);
    requests = std::move(next);
  };
  if (chosen(run_change::shards))
    each([&](run_request const& r, std::vector<run_request>& to) {
      for (int const n : widths) {
        if (n <= asked.mesh.tp) continue;
        if (auto const wider = with_shards(r, n)) to.push_back(*wider);
      }
    });
  if (chosen(run_change::bf16))
    each([](run_request r, std::vector<run_request>& to) {
      if (shape::size_of(r.compute) > shape::size_of(dtype::bf16)) r.compute = dtype::bf16, to.push_back(r);
    });
  if (chosen(run_change::micro_batches))
    each([](run_request r, std::vector<run_request>& to) {
      std::int64_t at_once = setup_of(r).load.batch;
      while (at_once > 1) {
        at_once = (at_once + 1) / 2;
        r.micro_batch = at_once;
        to.push_back(r);
      }
    });
  if (chosen(run_change::recompute))
    each([](run_request r, std::vector<run_request>& to) {
      if (!r.recompute.any()) r.recompute = recomputed_blocks::every_kth(2), to.push_back(r);
      if (r.recompute != true) r.recompute = true, to.push_back(r);
    });
  return requests;
}

REDCO_INLINE std::string difference_text(run_request const& from, run_request const& to) {
  std::string text;
  auto const say = [&](std::string const& change) { text += (text.empty() ? "" : " and ") + change; };
  if (to.mesh.tp != from.mesh.tp)
    say(std::to_string(to.mesh.tp) + " model shards" +
        (to.keeps_ranks() ? " on the same " + std::to_string(to.mesh.ranks()) + " ranks" : ""));
  if (to.compute != from.compute) say(std::string(name_of(to.compute)));
  if (to.micro_batch != from.micro_batch) {
    cost::setup const run = setup_of(to);
    say(std::to_string(run.micro_batches) + " micro-batches of " + std::to_string(run.load.batch));
  }
  if (to.recompute != from.recompute)
    say(to.recompute == true ? "recomputation" : "recomputation (" + options::to_text(to.recompute) + ")");
  return text;
}

}  // namespace redco::report::detail
