#pragma once

#include <redco/adapt/low_rank.hpp>

#include <redco/nn/keyed_dropout.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/place.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco::adapt::detail {

REDCO_INLINE low_rank::low_rank(lora_options const& options, nn::builder_base& b,
                                std::span<std::string_view const> weights, std::string_view whole) {
  auto const leaf = [](std::string_view weight, std::string_view half) {
    return (weight.empty() ? "" : std::string(weight) + ".") + std::string(half) + (half == "weight" ? "" : ".weight");
  };
  // Weights of experts have no suffix.
  auto const weight_of = [&](std::string_view weight) {
    std::string matrix = leaf(weight, "weight");
    return b.is_planned(matrix) ? matrix : std::string(weight);
  };
  bool const as_one = !whole.empty() && b.is_planned(leaf(whole, "lora_A"));
  if (b.is_elsewhere(weight_of(weights.front()))) {
    for (std::string_view const weight : weights)
      if (b.is_planned(leaf(weight, "lora_A"))) adapted_.push_back(b.path_of(weight));
    if (as_one) adapted_.push_back(b.path_of(whole));
    if (!adapted_.empty()) site_ = b.site();
    return;
  }
  std::vector<std::string> second_halves;
  std::int64_t column = 0;
  for (std::string_view const weight : weights) {
    nn::stored_parameter const& stored = b.stored(weight_of(weight));
    int const first = first_dim(stored.plan.fact);
    shape::place const cut = stored.plan.fact.on(shape::axis::tp);
    bool const own = !as_one && b.has(leaf(weight, "lora_A"));
    std::string_view const name = as_one ? whole : weight;
    if (own || (as_one && products_.empty())) {
      adapted_.push_back(b.path_of(name));
      if (first > 0 && options.dropout > 0)
        throw error(exit_code::usage, "the adapters of '" + adapted_.back() +
                                          "' are those of experts, which take no dropout: set the adapters' dropout "
                                          "to 0, or leave experts out of the targets");
      products_.push_back({.a = b.parameter(leaf(name, "lora_A")),
                           .cut = cut.dim < 0 ? -1 : cut.dim - first,
                           .first = as_one ? 0 : column});
    }
    if (own) products_.back().b = b.parameter(leaf(weight, "lora_B"));
    if (as_one) second_halves.push_back(leaf(weight, "lora_B"));
    if (own || as_one) {
      products_.back().share(cut.sharers(b.size(shape::axis::tp)), as_one ? column : 0);
      halves_.push_back({stored.name, b.stored(leaf(name, "lora_A")).master, b.stored(leaf(weight, "lora_B")).master});
    }
    column += stored.value.size(first);
  }
  if (as_one) products_.back().b = b.parameters(std::span<std::string const>(second_halves));
  if (products_.empty()) return;
  scale_ = options.alpha / static_cast<double>(options.rank);
  dropout_ = b.probability(options.dropout);
  site_ = b.site();
  tp_index_ = b.coordinate(shape::axis::tp);
}

REDCO_INLINE std::vector<nn::detail::product_of_halves> low_rank::products(at::Tensor const& x,
                                                                           nn::context_base const& ctx,
                                                                           bool own_tokens) const {
  std::vector<nn::detail::product_of_halves> all;
  at::Tensor read = x;
  if (ctx.pass().training && dropout_ > 0)
    read =
        tensors::save_as("dropped_input", nn::detail::dropped(x, dropout_, ctx.at(site_), ctx.pass(),
                                                              products_.front().cut == 1 ? tp_index_ * x.size(-1) : 0,
                                                              own_tokens ? tp_index_ * x.size(1) : 0));
  auto const half = [&](parameter p, bool on_all_ranks) {
    return on_all_ranks || own_tokens ? comm::enter(tensor<shape::replicated>(ctx[p]), ctx.tp()).local() : ctx[p];
  };
  for (product const& one : products_) {
    at::Tensor const narrow = tensors::save_as("low_rank", kernel::linear(read, half(one.a, one.cut == 0)) * scale_);
    all.push_back(
        {one.first, narrow, comm::enter_shared(half(one.b, one.cut == 1), ctx.tp(), one.sharers, one.shared_from)});
  }
  return all;
}

REDCO_INLINE std::vector<nn::detail::expert_factors> low_rank::factors(nn::context_base const& ctx) const {
  std::vector<nn::detail::expert_factors> all;
  auto const factor = [&](parameter p, bool on_all_ranks) {
    return on_all_ranks ? comm::enter(tensor<shape::replicated>(ctx[p]), ctx.tp()).local() : ctx[p];
  };
  for (product const& one : products_)
    all.push_back({one.first, factor(one.a, one.cut == 0), factor(one.b, one.cut == 1), scale_});
  return all;
}

REDCO_INLINE std::vector<nn::detail::weight_change> low_rank::changes() const {
  at::NoGradGuard const no_grad;
  std::vector<nn::detail::weight_change> all;
  for (halves const& one : halves_) all.push_back({one.weight, one.b.matmul(one.a) * scale_});
  return all;
}

REDCO_INLINE std::shared_ptr<nn::detail::side_source const> low_rank_maker::make(
    nn::builder_base& b, std::span<std::string_view const> weights, std::string_view whole) {
  auto made = std::make_shared<low_rank>(options_, b, weights, whole);
  adapted_.insert(adapted_.end(), made->adapted().begin(), made->adapted().end());
  if (made->empty()) return nullptr;
  return made;
}

REDCO_INLINE void low_rank_maker::check_targets() const {
  options_.for_each_target([&](std::string_view target) {
    if (std::ranges::none_of(adapted_, [&](std::string const& path) { return lora_options::names(target, path); }))
      throw error(exit_code::usage, "no weight '" + std::string(target) +
                                        "' takes an adapter; name linears, q, k, v, qkv and o of an attention, or gate "
                                        "and up, or gate, up and down of experts, as the plan has them");
  });
  if (options_.targets.view().empty())
    throw error(exit_code::usage, "a model with adapters adapts nothing: name its targets, such as q,v");
}

}  // namespace redco::adapt::detail
