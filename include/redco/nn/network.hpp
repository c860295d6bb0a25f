#pragma once

#include <redco/nn/builder.hpp>
#include <redco/nn/check_saved.hpp>
#include <redco/nn/context.hpp>
#include <redco/nn/context_entries.hpp>
#include <redco/nn/detail/forward.hpp>
#include <redco/nn/detail/stepped.hpp>
#include <redco/nn/evaluated_stage.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/joint_calls.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/network_arguments.hpp>
#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/nn/stage_shapes.hpp>
#include <redco/nn/stage_without_rows.hpp>
#include <redco/nn/text_rows.hpp>
#include <redco/nn/token_parts.hpp>
#include <redco/nn/value_source.hpp>
#include <redco/nn/watches.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/literal_sizes.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/blame.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::nn {

/// A network: the modules of a model on one rank. It reads the rank's parameter store, which must
/// outlive the network. A network is immutable: calls are const, and everything that changes
/// between micro-batches is in the pass (settings of a call). A temporary store is the compile
/// error redco[R001]. If all sizes of the model are literals, the errors of `legal<>` are compile
/// errors.
template <model M>
class network : public network_base {
 public:
  using net_module = module<models::net_of<M>, shape::replicated>;

  /// Builds the modules of the model on one rank. `blocks` are the blocks that this rank runs
  /// as a pipeline stage. Modules of other blocks get no parameters.
  network(M const& m, parameter_store const& store, int rank, mesh const& on, shape::stage_blocks const& blocks = {})
      : network(m, store, leaves(store), rank, on, blocks) {}
  template <detail::temporary<parameter_store> Store>
  network(M const& m, Store&& store, int rank, mesh const& on)
      : network(m, detail::refused_temporary(store), rank, on) {}

  M const& model() const { return model_; }
  net_module const& modules() const { return modules_; }

 private:
  network(M const& m, parameter_store const& store, leaves from, int rank, mesh const& on,
          shape::stage_blocks const& blocks)
      : network(m, store, builder(m.config, from, rank, on, blocks), blocks, on.pp > 1) {}

  template <class Builder>
  network(M const& m, parameter_store const& store, Builder b, shape::stage_blocks const& blocks, bool is_stage)
      : network_base(store, blocks, is_stage), model_(m), modules_(b) {
    shard::check_literal_sizes<M>();
    hold(b);
    if constexpr (layers::has_experts<models::net_of<M>>)
      if (b.size(shape::axis::ep) > 1) exchange_rows_by(&detail::call_without_rows<M>);
  }

  M model_;
  net_module modules_;
};

}  // namespace redco::nn

namespace redco::nn {

/// Returns a new network of a model over a parameter store, which must outlive the network.
/// `blocks` are the blocks that this rank runs as a pipeline stage. Networks of the library's model
/// families are compiled once (families.hpp). Compile error: redco[R001] for a temporary store.
template <model M>
std::shared_ptr<network<M> const> make_network(M const& m, parameter_store const& store, int rank, mesh const& on,
                                               shape::stage_blocks const& blocks = {}) {
  return std::make_shared<network<M> const>(m, store, rank, on, blocks);
}
template <model M, detail::temporary<parameter_store> Store>
auto make_network(M const& m, Store&& store, int rank, mesh const& on) {
  return make_network(m, detail::refused_temporary(store), rank, on);
}

}  // namespace redco::nn

namespace redco {

/// A network with the settings of one pass and the context entries set so far: the first argument
/// of a user's loss and predict functions. Floating-point inputs are converted to the compute
/// dtype, and results have this dtype.
/// - `net(ids)`: calls the model; returns an at::Tensor, or `logits` for a language model
/// - `net(ids, encoder_input{source}, key_mask{m})`: calls the model with context entries
/// - `net.with(encoder_input{source})`: returns a network with context entries
/// - `net.substituted(parameters)(x)`: calls the model with other parameters
template <model M, nn::context_entry... Entries>
class bound_network {
 public:
  /// Binds the network `net` to the pass `in` (settings of a forward call) with the context
  /// `entries`. The pass must outlive this object and every autograd graph of its calls. Compile
  /// error: redco[R001] for a temporary pass.
  bound_network(std::shared_ptr<nn::network<M> const> net, redco::pass const& in, Entries... entries)
      : bound_network(net, net->values(), in, std::move(entries)...) {}
  template <nn::detail::temporary<redco::pass> Pass>
  bound_network(std::shared_ptr<nn::network<M> const> net, Pass&& in, Entries... entries)
      : bound_network(std::move(net), nn::detail::refused_temporary(in), std::move(entries)...) {}

  /// Calls the model with `input`, and with the context entries `first` and `more` in
  /// addition to those set. Throws `layer_error` with exit code 70, which names the layer, if
  /// libtorch throws in a layer.
  auto operator()(at::Tensor const& input) const {
    if (net_->exchanges_rows()) nn::announce_call(*pass_);
    redco::pass in = *pass_;
    at::Tensor const whole = nn::detail::as_input(input, net_->store());
    at::Tensor positions;
    nn::documents rows;
    if constexpr (has<key_mask>) in.real = get<key_mask>();
    if constexpr (has<nn::documents>) rows = std::get<nn::documents>(entries_), positions = rows.value;
    if constexpr (has<nn::token_positions>) positions = get<nn::token_positions>();
    at::Tensor const x = nn::detail::begin_tokens(in, whole, positions, layers::divides_sequences<models::net_of<M>>);
    nn::detail::begin_texts(in, whole, rows, net_->text_limit());
    if (net_->is_stage()) return staged(in, whole, x);
    in.values = nn::detail::begin_values(net_->store());
    nn::context<Entries...> const ctx(in, pass_->calls++, net_, values_, entries_);
    auto const run = [&] { return nn::detail::forward(*net_, x, ctx); };
    // The numbers of rows that experts exchange, and save, follow from the routing.
    bool checks = pass_->check_saved && pass_->calls == 1 && !net_->exchanges_rows();
    // In rows of several texts, the loss that balances experts saves factors of each text.
    if constexpr (layers::has_experts<models::net_of<M>>) checks = checks && !rows.value.defined();
    return checks ? watched(run, whole, {x, in.positions, in.real, in.text_lengths, in.own_text_lengths}) : run();
  }

  template <nn::context_entry First, nn::context_entry... More>
  auto operator()(at::Tensor const& input, First first, More... more) const {
    return with(std::move(first), std::move(more)...)(input);
  }

  /// An overload that rejects a wrong call at compile time. The first argument is no tensor, such
  /// as a whole batch (redco[P010]), or a later argument is no context entry (redco[P011]). Its
  /// return type is the type of a correct call, so that no second error follows.
  template <class Given, class... More>
    requires(!std::is_convertible_v<Given const&, at::Tensor const&>)
  typename nn::detail::results_of<M>::user operator()(Given const&, More const&...) const {
    static_assert(
        diag::never<Given>,
        "redco[P010]: a network is called with something that is not a tensor; pass the tensor of the batch that it reads, "
        "such as net(batch.ids)");
    return diag::unmade<typename nn::detail::results_of<M>::user>();
  }
  template <class... Given>
    requires(sizeof...(Given) > 0 && !(nn::context_entry<Given> && ...))
  typename nn::detail::results_of<M>::user operator()(at::Tensor const&, Given const&...) const {
    static_assert(
        diag::never<Given...>,
        "redco[P011]: a network is called with an extra argument that is not a context entry; name each value by "
        "its entry, such as net(batch.ids, redco::key_mask{batch.mask})");
    return diag::unmade<typename nn::detail::results_of<M>::user>();
  }

  /// Returns a copy of this network with the context entries `first` and `more` set. Each replaces
  /// an earlier entry of its type.
  template <nn::context_entry First, nn::context_entry... More>
  auto with(First first, More... more) const {
    if constexpr (std::is_same_v<First, encoder_input>) first.value = nn::detail::as_input(first.value, net_->store());
    else if constexpr (std::is_same_v<First, nn::documents>)
      first = nn::detail::without_padding(first, net_->store().device());
    else if constexpr (std::is_same_v<decltype(first.value), at::Tensor>)
      if (first.value.defined()) first.value = first.value.to(net_->store().device()).contiguous();
    auto const one = std::apply(
        [&](auto const&... entries) {
          return bound_network<M, std::remove_cvref_t<decltype(entries)>...>(net_, values_, *pass_, entries...);
        },
        nn::detail::entries_with(entries_, std::move(first)));
    if constexpr (sizeof...(More) == 0) return one;
    else return one.with(std::move(more)...);
  }

  /// `has` returns true if the context entry of type `Entry` is set. `get` returns the value of the
  /// entry.
  template <class Entry>  // clang 14 crashes if this template parameter is constrained.
  static constexpr bool has = nn::detail::entry_index<Entry, Entries...>() < sizeof...(Entries);
  template <class Entry>
    requires has<Entry>
  auto const& get() const { return std::get<Entry>(entries_).value; }

  /// Returns a copy of this network that reads these tensors instead of parameters(), one for each
  /// and in the same order. Differentiable in the tensors to any order. Throws `error` with exit
  /// code 70 if their number differs from the number of parameters, and 64 on a pipeline stage.
  bound_network substituted(std::vector<at::Tensor> parameters) const {
    if (net_->is_stage()) nn::detail::refuse_on_stage("net.substituted()");
    nn::detail::check_substitutes(parameters.size(), net_->parameters().size());
    bound_network other = *this;
    other.values_ = nn::parameter_values(std::move(parameters));
    return other;
  }

  /// Returns a copy of this network with constant parameters. Gradients flow to its input but not
  /// to its parameters, as for a critic that judges an actor. Throws `error` with exit code 64 in
  /// the loss of a pipeline stage.
  bound_network fixed() const {
    if (pass_->stage != nullptr) nn::detail::refuse_on_stage("net.fixed()");
    bound_network other = *this;
    other.values_ = values_.own() ? net_->constants() : values_.detached();
    return other;
  }

  /// Returns a copy of this network after one step of gradient descent: p - rate * dloss/dp for
  /// each trained p of parameters() that affects `loss`. Differentiable to any order. Throws
  /// libtorch's c10::Error if `loss` is not computed from this network with gradients enabled.
  /// Throws `error` with exit code 64 on a pipeline stage, and if cp or ep divides gradients.
  ///
  ///   // second-order MAML: error(learnt(x), y) is the loss
  ///   auto const learnt = net.stepped(error(net(task.x), task.y), 0.01);
  bound_network stepped(at::Tensor const& loss, double rate) const {
    if (net_->is_stage()) nn::detail::refuse_on_stage("net.stepped()");
    nn::detail::refuse_partial_gradients("net.stepped()", *pass_);
    return substituted(nn::detail::stepped(parameters(), loss, rate));
  }

  /// Returns a copy of this network with the settings of the pass `other`, for example to decode,
  /// or to run a target copy. The pass must outlive the result. Compile error: redco[R001] for a
  /// temporary pass.
  bound_network in(redco::pass const& other) const {
    bound_network result = *this;
    result.pass_ = &other;
    return result;
  }
  template <nn::detail::temporary<redco::pass> Pass>
  bound_network in(Pass&& other) const {
    return in(nn::detail::refused_temporary(other));
  }

  /// Returns the tensors that calls read. Throws `error` with exit code 64 if the replicas keep
  /// shares of the values (--zero 3), and not all values are in memory.
  std::vector<at::Tensor> const& parameters() const {
    nn::detail::check_values(net_->store());
    return values_.all();
  }
  nn::network<M> const& base() const { return *net_; }
  redco::pass const& pass() const { return *pass_; }

 private:
  template <model, nn::context_entry...>
  friend class bound_network;

  bound_network(std::shared_ptr<nn::network<M> const> net, nn::parameter_values values, redco::pass const& in,
                Entries... entries)
      : net_(std::move(net)), values_(std::move(values)), pass_(&in), entries_(std::move(entries)...) {}

  /// Runs this rank's pipeline stage on `x`, the rank's part of the input `whole`. In a call
  /// without training, all stages return the model's output. In a training call, throws
  /// nn::stage_ended unless the stage is the last.
  typename nn::detail::results_of<M>::user staged(redco::pass in, at::Tensor const& whole, at::Tensor const& x) const {
    std::optional<nn::evaluated_stage> evaluated;
    in.values = nn::detail::begin_values(net_->store());
    if (in.stage == nullptr) in.stage = &evaluated.emplace(net_->blocks().cuts(), nn::detail::rank_on_stages(in));
    at::Tensor source;
    if constexpr (has<encoder_input>) source = get<encoder_input>();
    std::uint32_t const call = pass_->calls++;
    std::optional<fact::program> facts;
    while (true) {
      in.stage->begin([&](std::int64_t block) {
        return nn::detail::stage_shapes_at(facts, net_->model(), net_->store(), in, block, whole, source);
      });
      nn::context<Entries...> const ctx(in, call, net_, values_, entries_);
      auto const y = nn::detail::forward(*net_, x, ctx);
      if (in.stage->end()) return nn::detail::given_to_all(y, in.stage->sharing(), *net_, whole);
    }
  }

  /// Calls `run` (one call of the network on `x`) and compares the tensors that autograd saves with
  /// the saved tensors that the layers declare. Parameters, the input, tensors of the context and
  /// `also` are not compared.
  template <class Run>
  auto watched(Run const& run, at::Tensor const& x, std::vector<at::Tensor> const& also) const {
    tensors::saved_watch watch;
    auto const y = run();
    for (at::Tensor const& p : values_.all()) watch.leave_out(p);
    watch.leave_out(x);
    for (at::Tensor const& one : also)
      if (one.defined()) watch.leave_out(one);
    std::apply(
        [&](auto const&... entry) {
          for (at::Tensor const* const tensor :
               {static_cast<at::Tensor const*>(nullptr), nn::detail::tensor_in(entry.value)...})
            if (tensor != nullptr) watch.leave_out(*tensor);
        },
        entries_);
    at::Tensor source;
    if constexpr (has<encoder_input>) source = get<encoder_input>();
    nn::check_saved(net_->model(), net_->store(), *pass_, x, source, watch.entries());
    return y;
  }

  std::shared_ptr<nn::network<M> const> net_;
  nn::parameter_values values_;
  redco::pass const* pass_;
  std::tuple<Entries...> entries_;
};

}  // namespace redco
