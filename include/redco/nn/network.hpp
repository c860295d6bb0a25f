#pragma once

#include <redco/nn/builder.hpp>
#include <redco/nn/check_saved.hpp>
#include <redco/nn/context.hpp>
#include <redco/nn/context_keys.hpp>
#include <redco/nn/leaves.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

/// One rank's modules of a model over its parameter store. Immutable: calls are const, and everything that changes from
/// micro-batch to micro-batch lives in the pass.
template <model M>
class network {
 public:
  using net_module = module<net_of<M>, replicated>;

  network(M const& m, parameter_store const& store, int rank, mesh const& on)
      : network(m, store, rank, on, leaves(store)) {}

  /// The same modules over other tensors: one for each of parameters(), in that order. Differentiable in them to any
  /// order.
  network with(std::span<at::Tensor const> substitutes) const {
    return network(model_, *store_, rank_, mesh_, leaves(*store_, substitutes));
  }

  /// The leaves that the modules read, in the order in which they were taken.
  std::vector<at::Tensor> const& parameters() const { return parameters_; }
  std::size_t cache_slots() const { return cache_slots_; }
  /// Whether some layer talks to the other replicas while it trains.
  bool meets_replicas() const { return !statistics_.empty(); }
  /// What such layers follow: to be equal on all replicas.
  std::vector<stored_parameter> const& statistics() const { return statistics_; }
  M const& model() const { return model_; }
  parameter_store const& store() const { return *store_; }
  net_module const& modules() const { return modules_; }

 private:
  network(M const& m, parameter_store const& store, int rank, mesh const& on, leaves from)
      : network(m, store, rank, on, from, builder(m.config, from, rank, on)) {}

  template <class Builder>
  network(M const& m, parameter_store const& store, int rank, mesh const& on, leaves& from, Builder b)
      : model_(m),
        store_(&store),
        rank_(rank),
        mesh_(on),
        modules_(b),
        parameters_(from.taken()),
        cache_slots_(b.cache_slots()),
        statistics_(b.all_statistics()) {}

  M model_;
  parameter_store const* store_;
  int rank_;
  mesh mesh_;
  net_module modules_;
  std::vector<at::Tensor> parameters_;
  std::size_t cache_slots_;
  std::vector<stored_parameter> statistics_;
};

namespace detail {

/// x on the device of the parameters; of any floating type, in the one that the network computes in.
inline at::Tensor as_input(at::Tensor const& x, parameter_store const& store) {
  if (!x.defined()) return x;
  return x.to(store.device(), x.is_floating_point() ? scalar_type_of(store.compute()) : x.scalar_type());
}

/// A handle is what a user gets for it.
inline logits unshard(logits const& x, group&) { return x; }

/// Whether a module's result is what the fold over layer types says.
template <class Out, class Result>
inline constexpr bool agrees = true;
template <layout Out, class Result>
inline constexpr bool agrees<Out, Result> = std::is_same_v<Result, tensor<Out>>;
template <class Result>
inline constexpr bool agrees<as_logits, Result> = std::is_same_v<Result, logits>;

}  // namespace detail

/// What the user's loss and predict are given: a network in one pass, with the context entries set so far. Inputs of any
/// floating type are brought to the compute dtype; results have it.
///
///   net(input_ids)                                  the model's result: at::Tensor, or `logits` of a language model
///   net.template with<encoder_input>(source)(ids)   the same with a context entry
///   net.substituted(parameters)(x)                  the same over other parameters
template <model M, class... Items>
class bound_network {
 public:
  bound_network(std::shared_ptr<network<M> const> net, redco::pass const& in, Items... items)
      : net_(std::move(net)), pass_(&in), items_(std::move(items)...) {}

  auto operator()(at::Tensor const& given) const {
    at::Tensor const x = detail::as_input(given, net_->store());
    context<Items...> const ctx(*pass_, pass_->calls++, net_, items_);
    auto const run = [&] { return net_->modules()(redco::tensor<replicated>(x), ctx); };
    auto const y = pass_->check_saved && pass_->calls == 1 ? watched(run, x) : run();
    static_assert(detail::agrees<out_t<net_of<M>, replicated>, std::remove_const_t<decltype(y)>>,
                  "a module gives another layout than its layer type says");
    return detail::unshard(y, *pass_->tp);
  }

  template <class Key, class Value>
  auto with(Value value) const {
    if constexpr (std::is_same_v<Key, encoder_input>) value = detail::as_input(value, net_->store());
    return std::apply(
        [&](auto const&... items) {
          return bound_network<M, std::remove_cvref_t<decltype(items)>...>(net_, *pass_, items...);
        },
        detail::items_with<Key>(items_, std::move(value)));
  }

  /// What is set under a context key.
  template <class Key>
  static constexpr bool has = detail::place_of<Key, Items...>() < sizeof...(Items);
  template <class Key>
    requires has<Key>
  auto const& get() const { return std::get<detail::place_of<Key, Items...>()>(items_).value; }

  bound_network substituted(std::span<at::Tensor const> parameters) const {
    bound_network other = *this;
    other.net_ = std::make_shared<network<M> const>(net_->with(parameters));
    return other;
  }

  /// The same network in another pass (decoding, a target copy without training).
  bound_network in(redco::pass const& other) const {
    bound_network result = *this;
    result.pass_ = &other;
    return result;
  }

  std::vector<at::Tensor> const& parameters() const { return net_->parameters(); }
  network<M> const& base() const { return *net_; }
  redco::pass const& pass() const { return *pass_; }

 private:
  /// `run()`, all that autograd saves of it compared with what the layers declare; parameters and what it is given do not
  /// count.
  template <class Run>
  auto watched(Run const& run, at::Tensor const& x) const {
    saved_watch watch;
    auto const y = run();
    for (at::Tensor const& p : net_->parameters()) watch.leave_out(p);
    watch.leave_out(x);
    std::apply(
        [&](auto const&... item) {
          for (at::Tensor const* const given :
               {static_cast<at::Tensor const*>(nullptr), detail::tensor_in(item.value)...})
            if (given != nullptr) watch.leave_out(*given);
        },
        items_);
    at::Tensor source;
    if constexpr (has<encoder_input>) source = get<encoder_input>();
    check_saved(net_->model(), net_->store(), *pass_, x, source, watch.entries());
    return y;
  }

  std::shared_ptr<network<M> const> net_;
  redco::pass const* pass_;
  std::tuple<Items...> items_;
};

}  // namespace redco
