#pragma once

#include <redco/pipeline/collate_info.hpp>
#include <redco/pipeline/detail/accepts.hpp>
#include <redco/pipeline/detail/stage.hpp>
#include <redco/diag/blame.hpp>
#include <redco/meta/tuple.hpp>

#include <span>
#include <type_traits>
#include <utility>

namespace redco {

/// A job as a type: collate, loss and predict, any of them, piped together. All ranks call it
/// concurrently, so its members and functions are const. Compile errors: P001 to P009, one per
/// mistake; a failed call has its function's result type, or `ill_formed` if that is unknown. Size
/// without captures: one byte.
///
///   collate(std::span<Example const>) or (..., collate_info const&) -> Batch, any aggregate
///   loss(net, Batch const&)    -> mean, terms or a scalar
///   predict(net, Batch const&) -> one element per example
template <class... Stage>
class pipeline {
 public:
  static constexpr bool has_collate = pipelines::detail::stages_of<pipelines::detail::collate_stage, Stage...> != 0;
  static constexpr bool has_loss = pipelines::detail::stages_of<pipelines::detail::loss_stage, Stage...> != 0;
  static constexpr bool has_predict = pipelines::detail::stages_of<pipelines::detail::predict_stage, Stage...> != 0;

  /// Creates a pipeline of the functions in `stages`. Programs write `collate(...) | loss(...)`.
  constexpr explicit pipeline(meta::hana::basic_tuple<Stage...> stages) : stages_(std::move(stages)) {}

  constexpr meta::hana::basic_tuple<Stage...> const& stages() const& { return stages_; }
  constexpr meta::hana::basic_tuple<Stage...>&& stages() && { return std::move(stages_); }

  /// Calls the collate function with `examples`, a span or a type that converts to one, and returns
  /// the batch. Passes `info` if the function has a second parameter.
  template <class Examples>
  constexpr auto collate(Examples const& examples, pipelines::collate_info const& info = {}) const {
    using example = std::remove_const_t<typename decltype(std::span(examples))::element_type>;
    using view = std::span<example const>;
    if constexpr (!has_collate) {
      return pipelines::detail::lacks_function<pipeline>();
    } else {
      using collate_function = pipelines::detail::function_of<pipelines::detail::collate_stage, Stage...>;
      auto const& f = function<pipelines::detail::collate_stage>();
      if constexpr (pipelines::detail::viable<collate_function, view, pipelines::collate_info const&>()) {
        return batch_of_call([&]() -> decltype(auto) { return f(view(examples), info); });
      } else if constexpr (pipelines::detail::check_collate<collate_function, example>()) {
        return batch_of_call([&]() -> decltype(auto) { return f(view(examples)); });
      } else {
        return diag::unmade<pipelines::detail::named_or<collate_function, diag::ill_formed>>();
      }
    }
  }

  /// Calls the loss function with the network `net` and one batch, and returns the loss.
  template <class Net, class Batch>
  constexpr auto loss(Net const& net, Batch const& one) const {
    return call<pipelines::detail::loss_stage>(net, one);
  }

  /// Calls the predict function with the network `net` and one batch. Returns the predictions in
  /// the order of the batch's examples.
  template <class Net, class Batch>
  constexpr auto predict(Net const& net, Batch const& one) const {
    return call<pipelines::detail::predict_stage>(net, one);
  }

 private:
  template <template <class> class Kind, class Net, class Batch>
  constexpr auto call(Net const& net, Batch const& one) const {
    if constexpr (pipelines::detail::stages_of<Kind, Stage...> == 0) {
      return pipelines::detail::lacks_function<pipeline>();
    } else {
      using stage = pipelines::detail::stage_of<Kind, Stage...>;
      auto const& f = function<Kind>();
      if constexpr (std::is_same_v<Batch, diag::ill_formed>) {
        return diag::unmade<typename stage::template stand_in<Net, Batch, Stage...>>();
      } else if constexpr (!stage::template check_takes<Batch, Stage...>()) {
        return diag::unmade<typename stage::template stand_in<Net, Batch, Stage...>>();
      } else if constexpr (!stage::template check_gives<decltype(f(net, one))>()) {
        return diag::unmade<typename stage::template stand_in_like<std::remove_cvref_t<decltype(f(net, one))>>>();
      } else {
        return f(net, one);
      }
    }
  }

  template <class Call>
  static constexpr auto batch_of_call(Call const& call) {
    if constexpr (pipelines::detail::check_batch<decltype(call())>()) return call();
    else return diag::ill_formed{};
  }

  template <template <class> class Kind>
  constexpr auto const& function() const {
    return meta::hana::at_c<pipelines::detail::stage_index<Kind, Stage...>()>(stages_).function;
  }

  meta::hana::basic_tuple<Stage...> stages_;
};

}  // namespace redco

namespace redco::pipelines::detail {

template <class T>
inline constexpr bool is_pipeline = false;
template <class... Stage>
inline constexpr bool is_pipeline<pipeline<Stage...>> = true;

}  // namespace redco::pipelines::detail

namespace redco::pipelines {

/// Concept of a pipeline: a type that `collate`, `loss`, `predict` or operator| returns.
template <class T>
concept any_pipeline = detail::is_pipeline<std::remove_cvref_t<T>>;

/// Concept of a pipeline that can train: it has collate and loss functions. Training with another
/// pipeline is the compile error redco[P006].
template <class T>
concept training_pipeline = any_pipeline<T> && std::remove_cvref_t<T>::has_collate && std::remove_cvref_t<T>::has_loss;

/// Concept of a pipeline that can predict: it has collate and predict functions. Predicting with
/// another pipeline is the compile error redco[P006].
template <class T>
concept predicting_pipeline =
    any_pipeline<T> && std::remove_cvref_t<T>::has_collate && std::remove_cvref_t<T>::has_predict;

/// The type of batch that the collate function of `Pipeline` makes from examples of type `Example`.
template <class Pipeline, class Example>
using batch_of =
    decltype(std::declval<Pipeline const&>().collate(std::declval<std::span<Example const> const&>(), collate_info{}));

/// The type that the loss function of a pipeline returns for a network and a batch.
template <class Pipeline, class Net, class Batch>
using loss_of = std::remove_cvref_t<decltype(std::declval<Pipeline const&>().loss(std::declval<Net const&>(),
                                                                                  std::declval<Batch const&>()))>;

}  // namespace redco::pipelines
