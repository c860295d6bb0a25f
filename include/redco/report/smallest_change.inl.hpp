#pragma once

#include <redco/report/smallest_change.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/options/recomputed_blocks_text.hpp>
#include <redco/config.hpp>

#include <array>
#include <utility>

namespace redco::report {

namespace detail {

enum class run_change : unsigned { shards = 1, bf16 = 2, micro_batches = 4, recompute = 8 };

REDCO_INLINE std::vector<setup> changed_runs(setup const& run, unsigned changes, std::vector<int> const& widths) {
  auto const asked = [&](run_change c) { return (changes & static_cast<unsigned>(c)) != 0; };
  std::vector<setup> runs{run};
  auto const each = [&](auto const& put) {
    std::vector<setup> next;
    for (setup const& s : runs) put(s, next);
    runs = std::move(next);
  };
  if (asked(run_change::shards))
    each([&](setup s, std::vector<setup>& to) {
      for (int const n : widths)
        if (s.mesh.tp = n; n > run.mesh.tp && s.mesh.ranks() % s.hosts == 0) to.push_back(s);
    });
  if (asked(run_change::bf16))
    each([](setup s, std::vector<setup>& to) {
      if (size_of(s.compute) > size_of(dtype::bf16)) s.compute = dtype::bf16, to.push_back(s);
    });
  if (asked(run_change::micro_batches))
    each([](setup s, std::vector<setup>& to) {
      std::int64_t const all = saturating_multiply(s.load.batch, s.micro_batches);
      while (s.load.batch > 1) {
        s.load.batch = (s.load.batch + 1) / 2;
        s.micro_batches = (all - 1) / s.load.batch + 1;
        to.push_back(s);
      }
    });
  if (asked(run_change::recompute))
    each([](setup s, std::vector<setup>& to) {
      if (!s.recompute.any()) s.recompute = recomputed_blocks::every_kth(2), to.push_back(s);
      if (s.recompute != true) s.recompute = true, to.push_back(s);
    });
  return runs;
}

REDCO_INLINE std::string difference_text(setup const& from, setup const& to) {
  std::string text;
  auto const say = [&](std::string const& what) { text += (text.empty() ? "" : " and ") + what; };
  if (to.mesh.tp != from.mesh.tp) say(std::to_string(to.mesh.tp) + " model shards");
  if (to.compute != from.compute) say(std::string(name_of(to.compute)));
  if (to.load.batch != from.load.batch)
    say(std::to_string(to.micro_batches) + " micro-batches of " + std::to_string(to.load.batch));
  if (to.recompute != from.recompute)
    say(to.recompute == true ? "recomputation" : "recomputation (" + options::to_text(to.recompute) + ")");
  return text;
}

}  // namespace detail
}  // namespace redco::report
