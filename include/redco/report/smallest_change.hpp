#pragma once

#include <redco/report/detail/numbers.hpp>

#include <redco/cost/cost_of.hpp>

#include <redco/shard/plan.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// A run that fits, and what makes it differ from the one that was asked for.
struct fitting_change {
  setup run;
  std::string what;  ///< "4 model shards", "bf16 and 2 micro-batches of 4"
  std::int64_t peak = 0;
};

namespace detail {

/// What may be changed, the least intrusive first.
enum class run_change : unsigned { shards = 1, bf16 = 2, micro_batches = 4, recompute = 8 };

/// The runs that differ from `run` in all of `changes` (a sum of run_change), the smallest difference first.
inline std::vector<setup> changed_runs(setup const& run, unsigned changes, std::vector<int> const& widths) {
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
        if (n > run.mesh.mp) s.mesh.mp = n, to.push_back(s);
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
      if (!s.recompute) s.recompute = true, to.push_back(s);
    });
  return runs;
}

inline std::string difference_text(setup const& from, setup const& to) {
  std::string text;
  auto const say = [&](std::string const& what) { text += (text.empty() ? "" : " and ") + what; };
  if (to.mesh.mp != from.mesh.mp) say(std::to_string(to.mesh.mp) + " model shards");
  if (to.compute != from.compute) say(std::string(name_of(to.compute)));
  if (to.load.batch != from.load.batch)
    say(std::to_string(to.micro_batches) + " micro-batches of " + std::to_string(to.load.batch));
  if (to.recompute != from.recompute) say("recomputation");
  return text;
}

}  // namespace detail

/// The smallest change after which a rank stays within `budget` bytes: a wider legal mesh, bf16, more micro-batches,
/// recomputation; one of them if that is enough, else two and so on, in this order. Empty when all together do not help.
template <model M, class Optimizer>
std::optional<fitting_change> smallest_change(M const& m, Optimizer const& optimizer, setup const& run,
                                              std::int64_t budget) {
  std::vector<int> const widths = legal_widths(facts_of(m).parameters);
  for (unsigned const changes : {1U, 2U, 4U, 8U, 3U, 5U, 9U, 6U, 10U, 12U, 7U, 11U, 13U, 14U, 15U})
    for (setup const& s : detail::changed_runs(run, changes, widths))
      if (std::int64_t const peak = cost_of(m, optimizer, s).memory.peak(); peak <= budget)
        return fitting_change{s, detail::difference_text(run, s), peak};
  return {};
}

}  // namespace redco
