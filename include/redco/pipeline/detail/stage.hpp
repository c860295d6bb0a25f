#pragma once

#include <redco/pipeline/detail/accepts.hpp>
#include <redco/pipeline/results.hpp>

#include <redco/diag/blame.hpp>

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

namespace redco::pipelines::detail {

/// Placeholders for the result types of generic or overloaded functions. They pass all checks here;
/// the real result types are checked when the pipeline calls the functions.
struct any_loss {};
struct any_prediction {};
struct any_batch {};

}  // namespace redco::pipelines::detail

namespace redco::pipelines {

template <>
inline constexpr bool enable_loss<detail::any_loss> = true;
template <>
inline constexpr bool enable_per_example<detail::any_prediction> = true;

}  // namespace redco::pipelines

namespace redco::pipelines::detail {

/// A placeholder for a function that was rejected with a compile error. Callable with any
/// arguments, so that no further errors follow; declared only.
template <class Result>
struct refused_function {
  template <class... T>
  Result operator()(T const&...) const;
};

template <template <class> class Kind, class Stage>
inline constexpr bool is_stage = false;
template <template <class> class Kind, class F>
inline constexpr bool is_stage<Kind, Kind<F>> = true;

/// Number of functions in a pipeline with the purpose `Kind` (collate_stage, loss_stage or
/// predict_stage).
template <template <class> class Kind, class... Stage>
inline constexpr std::size_t stages_of = (std::size_t{is_stage<Kind, Stage>} + ... + 0);

/// Returns the index among `Stage` of the pipeline's function with the purpose `Kind`
/// (collate_stage, loss_stage or predict_stage). The pipeline must have such a function.
template <template <class> class Kind, class... Stage>
consteval std::size_t stage_index() {
  bool const matches[] = {is_stage<Kind, Stage>...};
  std::size_t index = 0;
  while (!matches[index]) ++index;
  return index;
}

/// The type among `Stage` with the purpose `Kind` (collate_stage, loss_stage or predict_stage).
template <template <class> class Kind, class... Stage>
using stage_of = std::tuple_element_t<stage_index<Kind, Stage...>(), std::tuple<Stage...>>;
template <template <class> class Kind, class... Stage>
using function_of = decltype(stage_of<Kind, Stage...>::function);

/// Returns true if the pipeline's function with the purpose `Kind` takes a `Batch`, or if there is
/// no such function. Otherwise reports a compile error.
template <template <class> class Kind, class Batch, class... Stage>
consteval bool check_takes_of() {
  if constexpr (stages_of<Kind, Stage...> == 0) return true;
  else return stage_of<Kind, Stage...>::template check_takes<Batch, Stage...>();
}

// Each check below reports at most one compile error, and returns true if it passed.

template <class... T>
constexpr diag::ill_formed lacks_function() {
  static_assert(diag::never<T...>,
                "redco[P006]: a pipeline lacks a function that is needed here; "
                "add it with | redco::collate(f), | redco::loss(f) or | redco::predict(f)");
  return {};
}

template <class F>
consteval bool check_const() {
  static_assert(callable_on_const<F>(),
                "redco[P007]: a function of a pipeline cannot be called as const; "
                "remove mutable, and keep changing state outside of the function, under a lock or one per rank");
  return callable_on_const<F>();
}

template <class Collate, class Example>
consteval bool check_collate() {
  static_assert(viable<Collate, std::span<Example const>>(),
                "redco[P008]: collate does not accept the examples; write it as "
                "collate(std::span<Example const> examples), with the element type of the data as Example");
  return viable<Collate, std::span<Example const>>();
}

template <class Batch>
consteval bool check_batch() {
  static_assert(!std::is_void_v<Batch>,
                "redco[P009]: collate returns nothing; return a batch, any struct of tensors and other members");
  return !std::is_void_v<Batch>;
}

template <class Loss, class Batch>
consteval bool check_loss_batch() {
  static_assert(accepts_batch<Loss, Batch>,
                "redco[P001]: loss does not accept what collate returns; "
                "write it as loss(auto const& net, Batch const& batch), with the type that collate returns as Batch");
  return accepts_batch<Loss, Batch>;
}

template <class Predict, class Batch>
consteval bool check_predict_batch() {
  static_assert(
      accepts_batch<Predict, Batch>,
      "redco[P002]: predict does not accept what collate returns; "
      "write it as predict(auto const& net, Batch const& batch), with the type that collate returns as Batch");
  return accepts_batch<Predict, Batch>;
}

template <class Result>
consteval bool check_loss_value() {
  static_assert(loss_value<Result>,
                "redco[P003]: loss returns neither a mean, nor terms, nor a scalar; "
                "return redco::mean{sum, count}, redco::terms or a scalar tensor");
  return loss_value<Result>;
}

template <class Result>
consteval bool check_predict_value() {
  static_assert(per_example<Result>,
                "redco[P004]: predict does not return one element per example; return a sized range such as "
                "std::vector<std::string>, or a tensor whose first dimension counts the examples");
  return per_example<Result>;
}

/// A collate function in a pipeline. Takes no space if the function has no captures.
template <class F>
struct collate_stage {
  [[no_unique_address]] F function;

  static consteval bool check_named_result() { return check_batch<named_or<F, any_batch>>(); }
};

template <class F>
struct loss_stage {
  [[no_unique_address]] F function;

  /// Placeholder type for the result of a loss function after a compile error in its call.
  template <class Net, class Batch, class... Stage>
  using stand_in = diag::ill_formed;
  template <class Result>
  using stand_in_like = diag::ill_formed;

  /// Returns true if the loss function takes a `Batch`; otherwise reports a compile error.
  template <class Batch, class... Stage>
  static consteval bool check_takes() {
    return check_loss_batch<F, Batch>();
  }
  static consteval bool check_named_result() { return check_loss_value<named_or<F, any_loss>>(); }
  template <class Result>
  static consteval bool check_gives() {
    return check_loss_value<Result>();
  }
};

template <class F>
struct predict_stage {
  [[no_unique_address]] F function;

  /// Requires that predict rejects the type `Batch` that collate makes. Returns true if predict is
  /// at fault. Returns false if the loss rejects the type, too, or if collate has already failed.
  template <class Batch, class... Stage>
  static consteval bool is_at_fault() {
    if constexpr (std::is_same_v<Batch, diag::ill_formed>) return false;
    else if constexpr (stages_of<loss_stage, Stage...> == 0) return true;
    else return accepts_batch<function_of<loss_stage, Stage...>, Batch>;
  }

  /// Placeholder type for the predictions after a compile error in a call of predict. Does not
  /// instantiate the body of a predict function that caused the error.
  template <class Net, class Batch, class... Stage>
  using stand_in = predictions_like<typename std::conditional_t<is_at_fault<Batch, Stage...>(), named_result<F, void>,
                                                                result_for_own_batch<F, Net>>::type>;
  template <class Result>
  using stand_in_like = predictions_like<Result>;

  /// Returns true if the predict function takes a `Batch`; otherwise reports a compile error. If
  /// the pipeline's loss rejects the type, too, only the loss is reported, so that one mistake in
  /// collate gives one error.
  template <class Batch, class... Stage>
  static consteval bool check_takes() {
    if constexpr (accepts_batch<F, Batch>) {
      return true;
    } else if constexpr (!check_takes_of<loss_stage, Batch, Stage...>()) {
      return false;
    } else {
      return check_predict_batch<F, Batch>();
    }
  }
  static consteval bool check_named_result() { return check_predict_value<named_or<F, any_prediction>>(); }
  template <class Result>
  static consteval bool check_gives() {
    return check_predict_value<Result>();
  }
};

}  // namespace redco::pipelines::detail
