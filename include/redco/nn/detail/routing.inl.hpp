#pragma once

#include <redco/nn/detail/routing.hpp>

#include <redco/nn/activations.hpp>
#include <redco/kernel/activations.hpp>
#include <redco/kernel/experts.hpp>
#include <redco/comm/row_exchange.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

namespace redco::nn::detail {

/// Returns `scores` [tokens, experts] with the smallest value in place of experts outside of each
/// token's best groups. A group is rated by the sum of its two largest scores.
inline at::Tensor within_groups(at::Tensor const& scores, layers::routing_form const& form) {
  if (form.groups == form.chosen_groups) return scores;
  std::int64_t const of_group = scores.size(1) / form.groups;
  at::Tensor const parts = scores.view({scores.size(0), form.groups, of_group});
  at::Tensor const rated = std::get<0>(parts.topk(std::min<std::int64_t>(2, of_group), -1)).sum(-1);
  at::Tensor const best = std::get<1>(rated.topk(form.chosen_groups, -1));
  at::Tensor const chosen = at::zeros(rated.sizes(), rated.options().dtype(at::kBool)).scatter_(1, best, 1);
  return parts.masked_fill(chosen.logical_not().unsqueeze(-1), -std::numeric_limits<double>::infinity())
      .view(scores.sizes());
}

/// Returns the factors [groups of tokens, experts] of the summed probabilities in the auxiliary
/// loss: coefficient * experts * (tokens routed to the expert) / (k * tokens of the group). A group
/// is a sequence. If sequences hold several texts, each token is a group, which has the factors of
/// its text.
inline at::Tensor balance_factors(at::Tensor const& chosen, std::int64_t experts, layers::routing_form const& form,
                                  routed_sequences const& of, at::TensorOptions const& options) {
  std::int64_t const k = chosen.size(1);
  bool const by_text = of.text.defined();
  std::int64_t const groups = by_text ? 1 : of.sequences;
  std::int64_t const tokens = by_text ? chosen.size(0) : of.tokens;
  at::Tensor const counted =
      of.counted.defined() ? of.counted.to(options.dtype()).reshape({groups, tokens, 1}) : at::ones({1, 1, 1}, options);
  at::Tensor const each = counted.expand({groups, tokens, k}).reshape({groups, tokens * k});
  at::Tensor sums;
  if (by_text) {
    at::Tensor const text = of.text.reshape({tokens});
    at::Tensor const cells = (text.unsqueeze(1) * experts + chosen).flatten();
    at::Tensor const loads = at::zeros({of.texts * experts}, options).scatter_add_(0, cells, each.flatten());
    at::Tensor const counts =
        at::zeros({of.texts}, options).scatter_add_(0, text, counted.expand({1, tokens, 1}).flatten());
    sums = at::cat({loads.view({of.texts, experts}), counts.unsqueeze(1)}, 1);
  } else {
    at::Tensor const loads =
        at::zeros({groups, experts}, options).scatter_add_(1, chosen.view({groups, tokens * k}), each);
    sums = at::cat({loads, counted.expand({groups, tokens, 1}).sum(1)}, 1);
  }
  if (of.ranks != nullptr) {
    comm::collective_label const label("counts of routed tokens");
    sums = of.ranks->all_reduced(sums);
  }
  double const factor = form.coefficient * static_cast<double>(experts) / static_cast<double>(k);
  at::Tensor const factors = sums.narrow(1, 0, experts) / sums.narrow(1, experts, 1).clamp_min(1) * factor;
  return by_text ? factors.index_select(0, of.text.flatten()) : factors;
}

/// Returns the auxiliary loss of the router's probabilities [tokens, experts], times the number of
/// tokens.
inline at::Tensor balance_loss_of(at::Tensor const& probabilities, at::Tensor const& chosen,
                                  layers::routing_form const& form, routed_sequences const& of) {
  std::int64_t const experts = probabilities.size(1);
  at::Tensor factors;
  {
    at::NoGradGuard const constant;
    factors = balance_factors(chosen, experts, form, of, probabilities.options());
  }
  std::int64_t const groups = factors.size(0);
  std::int64_t const tokens = of.text.defined() ? 1 : of.tokens;
  at::Tensor counting = probabilities;
  if (of.counted.defined() && of.ranks == nullptr) {
    // Autograd saves the mask itself, which belongs to the batch.
    counting = at::where(of.counted.to(at::kBool).reshape({-1, 1}), probabilities, at::Scalar(0));
  } else if (of.counted.defined()) {
    counting = probabilities * of.counted.to(probabilities.scalar_type()).reshape({-1, 1});
  }
  return (counting.view({groups, tokens, experts}).sum(1) * tensors::save_as("balance", factors)).sum();
}

REDCO_INLINE routed_tokens route(at::Tensor const& scores, layers::routing_form const& form, std::int64_t k,
                                 routed_sequences const& of, at::Tensor const& bias) {
  using layers::router_function;
  bool const late = form.function == router_function::softmax_of_chosen;
  bool const balances =
      form.balance != layers::balance_loss::none && form.coefficient != 0 && at::GradMode::is_enabled();
  at::Tensor probabilities;
  if (form.function == router_function::sigmoid) probabilities = at::sigmoid(scores);
  else if (!late || balances) probabilities = at::softmax(scores, -1);
  if (probabilities.defined()) tensors::save_as("probabilities", probabilities);
  at::Tensor const& rated = late ? scores : probabilities;
  at::Tensor const biased = bias.defined() ? rated.detach() + bias : rated.detach();
  at::Tensor const allowed = within_groups(biased, form);
  at::Tensor chosen = std::get<1>(allowed.topk(k, -1)).contiguous();
  if (of.record != nullptr) chosen = of.record->agreed(allowed, chosen, of.place, of.sequences, of.part);
  at::Tensor weights = kernel::chosen_columns(rated, chosen);
  if (late) weights = at::softmax(weights, -1);
  else if (form.normalised) weights = weights / weights.sum(-1, true);
  if (form.scale != 1) weights = weights * form.scale;
  if (balances) weights = kernel::with_extra_loss(weights, balance_loss_of(probabilities, chosen, form, of));
  return {chosen.cpu(), weights};
}

REDCO_INLINE void count_loads(at::Tensor const& loads, routed_tokens const& to, routed_sequences const& of) {
  if (torch::autograd::get_current_graph_task_id() >= 0) return;
  at::NoGradGuard const no_grad;
  at::Tensor const counted = of.counted.defined() ? of.counted.to(loads.scalar_type()).reshape({-1, 1}).cpu()
                                                  : at::ones({1, 1}, loads.options());
  at::Tensor(loads).scatter_add_(0, to.experts.flatten(), counted.expand_as(to.experts).reshape({-1}));
}

/// A permutation of rows that sorts them by expert, with the number of rows of each expert.
struct expert_order {
  at::Tensor slots;                 ///< New index of each row, int64 [rows]
  std::vector<std::int64_t> loads;  ///< Number of rows of each expert
};

/// Returns the order that sorts rows, whose experts are `of` [rows], by expert. Rows of one expert
/// keep their order. The new indices are copied to `device`, without waiting for it.
inline expert_order sorted_by_expert(std::int64_t const* of, std::int64_t rows, std::int64_t experts,
                                     at::Device device) {
  expert_order order{at::empty({rows}, at::kLong), std::vector<std::int64_t>(static_cast<std::size_t>(experts))};
  for (std::int64_t i = 0; i < rows; ++i) ++order.loads[static_cast<std::size_t>(of[i])];
  std::vector<std::int64_t> next(order.loads.size());
  for (std::size_t e = 1; e < next.size(); ++e) next[e] = next[e - 1] + order.loads[e - 1];
  auto* const slots = order.slots.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < rows; ++i) slots[i] = next[static_cast<std::size_t>(of[i])]++;
  order.slots = order.slots.to(device, at::kLong, /*non_blocking=*/true);
  return order;
}

/// Returns the ranges of rows of experts with `loads` rows.
inline kernel::expert_offsets offsets_of(std::vector<std::int64_t> const& loads) {
  kernel::expert_offsets offsets{0};
  for (std::int64_t const load : loads) offsets.push_back(offsets.back() + load);
  return offsets;
}

/// Returns `y`, products of `rows`, with side products of the rows added to its columns.
inline at::Tensor plus_side_products(at::Tensor const& y, at::Tensor const& rows,
                                     std::vector<expert_factors> const& products,
                                     kernel::expert_offsets const& offsets) {
  std::vector<some_columns> parts;
  for (expert_factors const& one : products) {
    at::Tensor const narrow =
        tensors::save_as("low_rank", kernel::grouped_linear(rows, {one.narrowing}, offsets) * one.scale);
    parts.push_back({one.first_column, kernel::grouped_linear(narrow, {one.widening}, offsets)});
  }
  return parts.empty() ? y : plus_columns(y, parts);
}

/// Returns the results of experts for `rows`, which are sorted by expert.
inline at::Tensor expert_results(at::Tensor const& rows, expert_weights const& weights,
                                 layers::activation_kind activation, kernel::expert_offsets const& offsets) {
  at::Tensor hidden;
  if (!weights.gate.defined()) {
    hidden = activate(activation, plus_side_products(kernel::grouped_linear(rows, {weights.up}, offsets), rows,
                                                     weights.of_hidden, offsets));
  } else {
    at::Tensor const both = plus_side_products(kernel::grouped_linear(rows, {weights.gate, weights.up}, offsets), rows,
                                               weights.of_hidden, offsets);
    if (activation == layers::activation_kind::silu) {
      hidden = kernel::swiglu(both);
    } else {
      auto const parts = both.chunk(2, -1);
      hidden = activate(activation, parts[0]) * parts[1];
    }
  }
  return plus_side_products(kernel::grouped_linear(hidden, {weights.down}, offsets), hidden, weights.of_results,
                            offsets);
}

/// Returns the results for rows that are sorted by expert of the group, `loads[e]` rows for expert
/// e. Sends the rows to the ranks of their experts and the results back.
inline at::Tensor exchanged_results(at::Tensor const& rows, std::vector<std::int64_t> const& loads,
                                    expert_weights const& weights, layers::activation_kind activation,
                                    comm::group& ranks) {
  auto const size = static_cast<std::size_t>(ranks.size()), experts = loads.size(), own = experts / size;
  comm::collective_label const label("rows of experts");
  at::Tensor const all = ranks.all_gather(at::tensor(loads, at::kLong), 0);
  auto const* const of_ranks = all.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> counts(size * size);
  for (std::size_t from = 0; from < size; ++from)
    for (std::size_t e = 0; e < experts; ++e) counts[from * size + e / own] += of_ranks[from * experts + e];
  comm::row_counts const sent(std::move(counts), ranks.size());
  at::Tensor const arrived = comm::exchange_rows(rows, ranks, sent);
  // Rows arrive in the order of the sending ranks, and of each rank sorted by expert.
  std::vector<std::int64_t> expert_of_row;
  expert_of_row.reserve(static_cast<std::size_t>(arrived.size(0)));
  for (std::size_t from = 0; from < size; ++from)
    for (std::size_t e = 0; e < own; ++e)
      expert_of_row.insert(
          expert_of_row.end(),
          static_cast<std::size_t>(of_ranks[from * experts + static_cast<std::size_t>(ranks.rank()) * own + e]),
          static_cast<std::int64_t>(e));
  expert_order const order =
      sorted_by_expert(expert_of_row.data(), arrived.size(0), static_cast<std::int64_t>(own), rows.device());
  at::Tensor const sorted = kernel::spread_rows(arrived, order.slots, 1);
  at::Tensor const results = expert_results(sorted, weights, activation, offsets_of(order.loads));
  return comm::exchange_rows(kernel::combine_rows(results, {}, order.slots, 1), ranks, sent.back());
}

REDCO_INLINE at::Tensor run_experts(at::Tensor const& x, routed_tokens const& to, expert_weights const& weights,
                                    layers::activation_kind activation, std::int64_t count, comm::group* ranks) {
  std::int64_t const k = to.experts.size(1);
  expert_order const order =
      sorted_by_expert(to.experts.const_data_ptr<std::int64_t>(), to.experts.numel(), count, x.device());
  at::Tensor const rows = kernel::spread_rows(x, order.slots, k);
  at::Tensor const results = ranks == nullptr || ranks->size() == 1
                                 ? expert_results(rows, weights, activation, offsets_of(order.loads))
                                 : exchanged_results(rows, order.loads, weights, activation, *ranks);
  return kernel::combine_rows(results, to.weights, order.slots, k);
}

}  // namespace redco::nn::detail
