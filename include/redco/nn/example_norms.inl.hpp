#pragma once

#include <redco/nn/example_norms.hpp>

#include <redco/nn/text_rows.hpp>
#include <redco/comm/group.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <set>
#include <utility>

namespace redco::nn {

REDCO_INLINE example_norms::example_norms(network_base const& net, redco::pass const& in)
    : net_(net), in_(in), here_(*this) {
  if (in.watch != nullptr || in.examples < 1)
    throw error(exit_code::internal,
                "norms of examples need a pass without a watch and with examples: use the pass of a micro-batch");
  detail::refuse_partial_gradients("a norm of an example's gradient", in);
  in_.watch = this;
  in_.recompute = {};
  in_.shard_lane = nullptr;
}

REDCO_INLINE stored_parameter const& example_norms::stored(parameter which) const {
  void const* const begin = net_.parameters()[static_cast<std::size_t>(which.index)].data_ptr();
  for (stored_parameter const& p : net_.store().parameters())
    if (p.value.data_ptr() == begin && p.value.numel() > 0) return p;
  throw error(exit_code::internal, "norms of examples: the network has other parameters than its store");
}

/// Returns an alias of the parameter, so that each use has a tensor of its own in the graph.
REDCO_INLINE at::Tensor example_norms::before_use(parameter which, at::Tensor const& value) {
  if (!value.requires_grad()) return value;
  at::Tensor const alias = value.view_as(value);
  uses_.push_back({which, alias, torch::autograd::impl::gradient_edge(alias), 0, {}});
  return alias;
}

REDCO_INLINE void example_norms::used(at::Tensor const& parameter, at::Tensor const& result, squares of) {
  for (use& one : uses_)
    if (one.value.is_same(parameter) && !one.of) {
      one.end = torch::autograd::impl::gradient_edge(result);
      one.examples = result.size(0);
      one.of = std::move(of);
      return;
    }
}

REDCO_INLINE at::Tensor example_norms::of(at::Tensor const& losses) {
  auto const refuse = [&](parameter which, std::string const& why) {
    throw error(exit_code::usage, "the parameter " + name_of(which) + " has no norms of examples: " + why +
                                      "; freeze the parameter or use another layer");
  };
  if (losses.dim() != 1 || losses.size(0) != in_.examples)
    throw error(exit_code::usage, "norms of examples need one loss for each of the " + std::to_string(in_.examples) +
                                      " examples of the pass: return losses without a reduction");
  torch::autograd::edge_list ends;
  for (use const& one : uses_) ends.push_back(one.end);
  std::vector<use> const uses = std::exchange(uses_, {});
  at::Tensor const root = losses.sum();
  auto const gradients = torch::autograd::Engine::get_default_engine().execute(
      {torch::autograd::impl::gradient_edge(root)}, {at::ones_like(root)}, true, false, false, ends);
  at::NoGradGuard const no_grad;
  at::Tensor sum = at::zeros({in_.examples}, losses.options().dtype(at::kDouble));
  std::set<std::int32_t> seen;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    auto const& [which, value, end, rows, squares_of] = uses[i];
    if (!gradients[i].defined()) continue;
    if (!seen.insert(which.index).second) refuse(which, "two layers share it");
    if (!squares_of) refuse(which, "its layer does not compute them");
    if (rows != in_.examples) refuse(which, "its layer's result has no dimension of examples");
    sum.add_(squares_of(gradients[i]).to(at::kDouble), 1.0 / stored(which).plan.holders(shape::model_axes));
  }
  comm::group& shards = in_.rank->group(shape::model_axes);
  if (shards.size() > 1) shards.all_reduce(sum);
  return sum.sqrt_();
}

}  // namespace redco::nn
