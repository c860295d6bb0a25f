#pragma once

#include <redco/nn/context.hpp>
#include <redco/nn/detail/empty_call.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/network_base.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/nn/stage_shapes.hpp>
#include <redco/nn/stage_without_rows.hpp>
#include <redco/nn/token_parts.hpp>
#include <redco/nn/value_source.hpp>
#include <redco/nn/watches.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>

namespace redco::nn {

template <model M>
class network;

}  // namespace redco::nn

namespace redco::nn::detail {

/// Returns `x` unchanged, because a language model gives its user the handle to logits rather than
/// a tensor.
inline logits unshard(logits const& x, pass const&) { return x; }

/// Returns the tokens of all ranks of a model's output `x`. A handle to logits keeps its own.
inline at::Tensor joined(at::Tensor const& x, pass const& in) { return all_tokens(x, in.cp, in.tokens); }
inline logits joined(logits const& x, pass const&) { return x; }

/// A pair of result types for an output of type `Out`: the type that a module returns, and the type
/// that the user's call of the network returns.
template <class Out>
struct results {
  using module = tensor<Out>;
  using user = at::Tensor;
};
template <>
struct results<layers::as_logits> {
  using module = logits;
  using user = logits;
};
template <model M>
using results_of = results<layers::out_t<models::net_of<M>, shape::replicated>>;

/// Calls the network on input `x` and returns the user's result, such as a tensor or logits. This
/// function is compiled once for the model families of the library (families.hpp).
template <model M, class... Entries>
typename results_of<M>::user forward(network<M> const& net, at::Tensor const& x, context<Entries...> const& ctx) {
  layer_watch* const layers = ctx.pass().layers;
  if (layers != nullptr) layers->call(x, ctx.pass());
  auto const y = net.modules()(tensor<shape::replicated>(x), ctx);
  static_assert(gives<std::remove_const_t<decltype(y)>, typename results_of<M>::module>,
                "a module gives another layout than its layer type says");
  auto result = is_elsewhere(ctx.pass()) ? nothing_of<decltype(unshard(y, ctx.pass()))>()
                                         : joined(unshard(y, ctx.pass()), ctx.pass());
  if (layers != nullptr) layers->leave(seen(result));
  return result;
}

/// Calls a network with experts with 0 rows of input and returns the sum of its output. See
/// network_base::call_without_rows().
template <model M>
at::Tensor call_without_rows(network_base const& net, pass const& of, int chunk) {
  auto const& whole = static_cast<network<M> const&>(net);
  std::uint32_t const call = of.calls++;
  pass in = of;
  in.values = begin_values(net.store());
  at::Tensor const x = begin_tokens(in, input_with_rows(0, whole.model(), net.store()), {},
                                    layers::divides_sequences<models::net_of<M>>);
  auto const run = [&] { return forward(whole, x, context<>(in, call, nullptr, net.values(), {})); };
  if (!net.is_stage()) return sum_of(run(), net.store());
  at::Tensor sum;
  std::optional<fact::program> facts;
  for (int i = 0; i < net.blocks().chunks(); ++i) {
    int const index = net.blocks().chunk(i);
    if (chunk >= 0 && index != chunk) continue;
    stage_without_rows link(net.blocks().cuts(), index);
    in.stage = &link;
    // Facts state shapes of one row, because some of them divide by the number of rows.
    link.begin([&](std::int64_t block) {
      at::Tensor const row = input_with_rows(1, whole.model(), net.store());
      stage_shapes shapes = stage_shapes_at(facts, whole.model(), net.store(), in, block, row, at::Tensor());
      shapes.hidden.front() = 0;
      return shapes;
    });
    auto const y = run();
    at::Tensor const one = link.is_last_chunk() ? sum_of(y, net.store()) : link.sum();
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

}  // namespace redco::nn::detail
