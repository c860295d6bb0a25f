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

namespace redco::run {

/// Compares the first updates of a trainer's fit on its mesh with the updates on one rank. All
/// processes call it. Throws the errors of trainer.fit.
///
///   auto const result = redco::run::verify(trainer, texts, {.global_batch = 8});
///   if (!result.ok()) std::cout << result.text() << result.verdict() << '\n';
template <class Trainer, class Range>
verify_result verify(
    Trainer& trainer, Range&& train,
    typename Trainer::template options_for<data::example_of<std::remove_cvref_t<Range>>> const& options = {},
    std::int64_t steps = 2) {
  return trainer.verify(std::forward<Range>(train), options, steps);
}

/// Compares the first steps of a training loop on the deployer's mesh with the steps on one rank.
/// Calls f(rank_context&), which makes a `worker`, on one rank alone and then on all ranks. `f`
/// must start from equal values each time. Throws the errors of deployer.verify.
template <class F>
  requires std::invocable<F&, rank_context&> verify_result verify(deployer& where, F&& f, std::int64_t steps = 2) {
    return where.verify(std::forward<F>(f), steps);
  }

}  // namespace redco::run
