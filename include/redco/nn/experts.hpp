#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/detail/routing.hpp>
#include <redco/nn/load_balance.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/side_products.hpp>
#include <redco/nn/text_rows.hpp>
#include <redco/nn/token_parts.hpp>
#include <redco/kernel/experts.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/layer/experts.hpp>
#include <redco/random/stream.hpp>
#include <redco/shape/axis.hpp>

#include <cstdint>

namespace redco {

template <class Experts, class Top, class Dispatch, class... Traits, class X>
struct module<layers::moe<Experts, Top, Dispatch, Traits...>, X> {
  using layer = layers::moe<Experts, Top, Dispatch, Traits...>;
  using result = tensor<layers::out_t<layer, X>>;

  template <class Config>
  explicit module(nn::builder<Config>& b)
      : sizes(layer::sizes(b.config())),
        router(b.parameter("gate.weight")),
        name_hash(random::site_of(b.path_of("gate.weight"))) {
    if (sizes.routing.bias_rate != 0) balance = b.balance("gate.bias", sizes.routing.bias_rate);
    if (sizes.gated) gate = b.parameter("experts.gate");
    up = b.parameter("experts.up");
    down = b.parameter("experts.down");
    of_hidden = sizes.gated ? b.side_products({"experts.gate", "experts.up"}) : b.side_products({"experts.up"});
    of_results = b.side_products({"experts.down"});
    if constexpr (Dispatch::descends) descend = b.parameter("descend.weight"), ascend = b.parameter("ascend.weight");
  }

  template <class Context>
  result operator()(tensor<X> const& x, Context const& ctx) const {
    at::Tensor const input = all_tokens(x, ctx);
    std::int64_t const width = input.size(-1);
    at::Tensor const flat = input.reshape({input.numel() / width, width});
    nn::detail::routed_sequences const of = sequences_of(input, ctx);
    // The scores are equal on all ranks along tp, because the input is the reduced activation.
    nn::detail::routed_tokens to = nn::detail::route(kernel::router_scores(flat, ctx[router]), sizes.routing,
                                                     sizes.chosen, of, balance.bias.master);
    if (balance.loads.defined() && ctx.pass().training) nn::detail::count_loads(balance.loads, to, of);
    // A rank along tp has a part of each expert's hidden features. It computes addends of
    // gradients.
    to.weights = entered(to.weights, ctx);
    at::Tensor sent = flat;
    if constexpr (Dispatch::descends) sent = kernel::linear(flat, ctx[descend]);
    comm::group* const ranks = ctx.pass().rank == nullptr ? nullptr : &ctx.over(shape::axis::ep);
    nn::detail::expert_weights const weights{ctx[gate], ctx[up], ctx[down], of_hidden.factors(ctx),
                                             of_results.factors(ctx)};
    at::Tensor const combined =
        nn::detail::run_experts(entered(sent, ctx), to, weights, sizes.activation, sizes.experts, ranks);
    auto sizes_of_result = input.sizes().vec();
    sizes_of_result.back() = combined.size(1);
    tensor<shape::partial> const pending(combined.view(sizes_of_result));
    if constexpr (Dispatch::descends) {
      auto const sum = nn::detail::finish<X>(pending, ctx.pass());
      return sum.like(kernel::linear(sum.local(), nn::shared_parameter<X>(ctx[ascend], ctx.tp())));
    } else {
      return pending;
    }
  }

  layers::expert_sizes sizes;
  parameter router, gate, up, down, descend, ascend;
  std::uint32_t name_hash;  ///< Hash of the router's name
  nn::load_balance balance;
  nn::detail::side_products of_hidden, of_results;

 private:
  template <class Context>
  static at::Tensor entered(at::Tensor const& x, Context const& ctx) {
    return comm::enter(tensor<shape::replicated>(x), ctx.tp()).local();
  }

  /// Returns the input of all tokens. Backward of split tokens takes this rank's part of the
  /// gradient.
  template <class Context>
  static at::Tensor all_tokens(tensor<X> const& x, [[maybe_unused]] Context const& ctx) {
    if constexpr (shape::is_token_split<X>) return comm::gather(x, ctx.tp()).local();
    else return x.local();
  }

  /// Returns the sequences of an input [sequences, ..., features], and the tokens that are no
  /// padding. If the ranks along the mesh axis cp have parts of the sequences, these are this
  /// rank's tokens.
  template <class Context>
  nn::detail::routed_sequences sequences_of(at::Tensor const& input, Context const& ctx) const {
    pass const& in = ctx.pass();
    nn::detail::routed_sequences of{input.size(0), 1};
    of.record = in.routing;
    of.place = {name_hash, in.step, ctx.call(), in.first_row(of.sequences)};
    for (std::int64_t d = 1; d + 1 < input.dim(); ++d) of.tokens *= input.size(d);
    std::int64_t const all = in.cp == nullptr ? of.tokens : in.tokens.all;
    at::Tensor mask = in.real;
    if constexpr (Context::template has<key_mask>) mask = ctx.template get<key_mask>();
    if (mask.defined() && mask.numel() == of.sequences * all) of.counted = mask;
    if constexpr (Context::template has<nn::documents>) {
      at::Tensor const& positions = ctx.template get<nn::documents>();
      if (positions.defined() && positions.numel() == of.sequences * all) {
        of.text = nn::detail::own_tokens(nn::detail::text_of_tokens(positions), in);
        of.texts = of.sequences * all;
      }
    }
    if (in.cp == nullptr) return of;
    of.ranks = in.cp;
    of.part = &in.tokens;
    if (in.tokens.ranks * in.tokens.count() != all && !of.counted.defined())
      of.counted = at::ones({of.sequences, all}, input.options().dtype(at::kBool));
    if (of.counted.defined()) of.counted = nn::detail::own_tokens(of.counted, in);
    return of;
  }
};

}  // namespace redco
