#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/trainer.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/data/examples.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace redco {

/// Compares the first updates of a trainer's job on its mesh with those of one rank:
///
///   redco::verify_result const result = redco::verify(trainer, texts, {.global_batch = 8});
///   if (!result.ok()) std::cout << result.text() << result.verdict() << '\n';
///
/// All processes call it. Errors: those of trainer.fit.
template <class Trainer, class Range>
verify_result verify(Trainer& trainer, Range&& train,
                     typename Trainer::template options_for<example_of<std::remove_cvref_t<Range>>> const& options = {},
                     std::int64_t steps = 2) {
  return trainer.verify(std::forward<Range>(train), options, steps);
}

/// Compares the first steps of a worker's loop, which `f(rank_context&)` runs, on the deployer's
/// mesh with those of one rank: `f` is called on one rank alone, then on all, and must start the
/// same way each time. Errors: those of deployer.verify.
template <class F>
  requires std::invocable<F&, rank_context&> verify_result verify(deployer& where, F&& f, std::int64_t steps = 2) {
    return where.verify(std::forward<F>(f), steps);
  }

}  // namespace redco
