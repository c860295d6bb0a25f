#pragma once

#include <redco/run/evaluation.hpp>

#include <redco/run/gathered_values.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/step_work.hpp>
#include <redco/nn/joint_calls.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <iterator>
#include <optional>
#include <string>

namespace redco::run::detail {

/// Calls f(pass) for each of this rank's micro-batches in order, in evaluation mode and without
/// gradients. The pass has the settings of one forward call. After each global batch, takes part in
/// the calls of ranks that have more micro-batches. This is necessary if the layers of `network`
/// exchange rows with these ranks, or if the replicas gather the values of its blocks. Throws
/// evaluation_stopped on all ranks if `settings.stops` ends the evaluation.
inline void for_each_evaluated(rank_context& rank, nn::network_base const& network, computed_batches& all,
                               evaluation_settings const& settings, tensors::function_ref<void(pass const&)> f) {
  at::NoGradGuard const no_grad;
  pass const in = nn::evaluation_pass(rank, settings.seed, settings.step);
  std::optional<gathered_calls> values;
  if (network.store().shares_values()) values.emplace(network.store(), rank);
  auto const next = [&] { return user_call("collate", settings.step, [&] { return all.next(); }); };
  auto const join = [&] {
    nn::join_calls(network, in);
    if (values) values->join();
  };
  data::micro_batch const* at = nullptr;
  for (std::int64_t k = 0; k < all.steps(); ++k) {
    // Ranks meet here after equal numbers of calls, because each batch joins the calls of others.
    if (settings.stops && settings.stops()) throw evaluation_stopped();
    if (k == 0) at = next();
    for (; at != nullptr && at->step == k; at = next())
      f(in.with_examples(at->examples.front(), std::ssize(at->examples)));
    join();
  }
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE options::metric_map evaluated_loss(rank_context& rank, nn::network_base const& network,
                                                computed_batches& all, evaluation_settings const& settings) {
  loss_totals totals;
  detail::for_each_evaluated(rank, network, all, settings, [&](pass const& in) {
    totals.add(user_call("loss", settings.step, [&] { return all.loss(in); }));
  });
  totals.reduce(rank);
  if (totals.weight() > 0 && !std::isfinite(totals.loss()))
    throw error(exit_code::not_finite, "after step " + std::to_string(settings.step) +
                                           ": the loss of the evaluation is " +
                                           (std::isnan(totals.loss()) ? "NaN" : "infinite") +
                                           "; this step is not saved. Lower the learning rate, clip gradients "
                                           "(clip_norm) or look at the examples of the evaluation");
  return totals.metrics();
}

REDCO_INLINE void predict_all(rank_context& rank, nn::network_base const& network, computed_batches& all,
                              evaluation_settings const& settings) {
  detail::for_each_evaluated(rank, network, all, settings,
                             [&](pass const& in) { user_call("predict", settings.step, [&] { all.predict(in); }); });
  rank.world.barrier();
  if (!rank.several_processes) return;
  auto const predictions = comm::gather_texts(rank.world, all.predicted());
  // One rank per process is enough, because the ranks of a process share the slots.
  if (!rank.first_of_process) return;
  for (std::string const& bytes : predictions) all.take_predicted(bytes);
}

}  // namespace redco::run
