#pragma once

#include <redco/pipeline/detail/accepts.hpp>
#include <redco/pipeline/detail/stage.hpp>
#include <redco/pipeline/pipeline.hpp>
#include <redco/diag/blame.hpp>
#include <redco/meta/tuple.hpp>

#include <type_traits>
#include <utility>

namespace redco::pipelines::detail {

/// Makes a pipeline with the single function `f`; `Kind` is its purpose (collate, loss or predict).
/// Checks that a const `f` can be called and, if `f` is not generic, that its result type is
/// allowed.
template <template <class> class Kind, class F>
constexpr auto pipeline_of(F f) {
  if constexpr (!check_const<F>()) {
    return pipeline_of<Kind>(refused_function<named_or<F, diag::ill_formed>>());
  } else {
    using stage = Kind<F>;
    static_cast<void>(stage::check_named_result());
    return pipeline<stage>(meta::hana::basic_tuple<stage>{stage{std::move(f)}});
  }
}

}  // namespace redco::pipelines::detail

namespace redco {

/// Makes a pipeline with a collate function: `f(std::span<Example const>)` or `f(std::span<Example
/// const>, collate_info const&)`. `f` makes a batch, any aggregate, from the examples of one rank's
/// micro-batch.
///
/// Compile errors: P007 if a const `f` cannot be called; P009 if `f` returns nothing. If `f` is
/// generic or overloaded, P009 appears only when the pipeline calls it.
template <class F>
constexpr auto collate(F f) {
  return pipelines::detail::pipeline_of<pipelines::detail::collate_stage>(std::move(f));
}

/// Makes a pipeline with a loss function to be minimised. `f(net, Batch const&)` returns a `mean`
/// (sum and count), `terms` (several losses) or a scalar tensor.
///
/// Compile errors: P007 if a const `f` cannot be called; P003 for another result type. If `f` is
/// generic or overloaded, P003 appears only when the pipeline calls it.
template <class F>
constexpr auto loss(F f) {
  return pipelines::detail::pipeline_of<pipelines::detail::loss_stage>(std::move(f));
}

/// Makes a pipeline with a predict function: `f(net, Batch const&)` returns one element per
/// example, in order.
///
/// Compile errors: P007 if a const `f` cannot be called; P004 for another result type. If `f` is
/// generic or overloaded, P004 appears only when the pipeline calls it.
template <class F>
constexpr auto predict(F f) {
  return pipelines::detail::pipeline_of<pipelines::detail::predict_stage>(std::move(f));
}

}  // namespace redco

namespace redco::pipelines::detail {

/// True if a pipeline has at most one collate, one loss and one predict function.
template <class... Stage>
inline constexpr bool is_once = stages_of<collate_stage, Stage...> <= 1 && stages_of<loss_stage, Stage...> <= 1 &&
                                stages_of<predict_stage, Stage...> <= 1;

template <class... Stage>
consteval bool check_once() {
  static_assert(is_once<Stage...>,
                "redco[P005]: a pipeline has a function twice; pipe at most one collate, one loss and one predict");
  return is_once<Stage...>;
}

/// Returns true if the loss and predict functions among `Stage` take the batch of the collate
/// function, or if collate is generic, so that its batch type is unknown. Otherwise reports a
/// compile error.
template <class... Stage>
consteval bool check_batches() {
  if constexpr (stages_of<collate_stage, Stage...> == 0) {
    return true;
  } else {
    using batch = named_or<function_of<collate_stage, Stage...>, any_batch>;
    if constexpr (std::is_same_v<batch, any_batch> || std::is_void_v<batch>) return true;
    else if constexpr (!check_takes_of<loss_stage, batch, Stage...>()) return false;
    else return check_takes_of<predict_stage, batch, Stage...>();
  }
}

}  // namespace redco::pipelines::detail

namespace redco {

/// Joins the functions of two pipelines, in any order: `collate(f) | loss(g) | predict(h)`. Checks
/// at compile time that each kind of function occurs at most once, and that loss and predict accept
/// collate's batch.
///
/// Compile errors: P001 (loss does not take the batch), P002 (predict does not take it) or P005
/// (two functions of one kind), one at a time.
template <class... A, class... B>
constexpr auto operator|(pipeline<A...> a, pipeline<B...> b) {
  // The compiler has reported a repeated function already.
  if constexpr (pipelines::detail::is_once<A...> && pipelines::detail::is_once<B...>) {
    if constexpr (pipelines::detail::check_once<A..., B...>())
      static_cast<void>(pipelines::detail::check_batches<A..., B...>());
  }
  return meta::hana::unpack(std::move(a).stages(), [&b](A&&... first) {
    return meta::hana::unpack(std::move(b).stages(), [&first...](B&&... second) {
      return pipeline<A..., B...>(meta::hana::basic_tuple<A..., B...>{std::move(first)..., std::move(second)...});
    });
  });
}

}  // namespace redco
