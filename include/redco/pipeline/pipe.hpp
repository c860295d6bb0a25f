#pragma once

#include <redco/pipeline/detail/stage.hpp>
#include <redco/pipeline/pipeline.hpp>

#include <redco/diag/blame.hpp>
#include <redco/meta/tuple.hpp>

#include <type_traits>
#include <utility>

namespace redco {

namespace detail {

template <class... Stage>
consteval bool check_once() {
  constexpr bool once = stages_of<collate_stage, Stage...> <= 1 && stages_of<loss_stage, Stage...> <= 1 &&
                        stages_of<predict_stage, Stage...> <= 1;
  static_assert(once,
                "redco[P005]: a pipeline has a function twice; pipe at most one collate, one loss and one predict");
  return once;
}

/// Whether `Stage`, if it is a loss or a predict, takes the batch of `Collate`, if that is a collate which names its
/// types.
template <class Collate, class Stage>
consteval bool check_pair() {
  return true;
}
template <class Collate, class Stage>
  requires is_stage<collate_stage, Collate> &&(!is_stage<collate_stage, Stage>)consteval bool check_pair() {
    using batch = named_or<decltype(Collate::function), any_batch>;
    if constexpr (std::is_same_v<batch, any_batch>) {
      return true;
    } else if constexpr (is_stage<loss_stage, Stage>) {
      return check_loss_batch<decltype(Stage::function), batch>();
    } else {
      return check_predict_batch<decltype(Stage::function), batch>();
    }
  }

  template <class Stage, class... All>
  consteval bool check_against() {
    return (check_pair<Stage, All>() && ...);
  }

}  // namespace detail

/// Puts the functions of two pipelines into one, in any order: `collate(f) | loss(g) | predict(h)`. What can be read of
/// the functions' types without calling them is checked here: that each comes once, and that loss and predict accept
/// the batch that collate returns.
///
/// Errors: P001, P002, P005; the result is `ill_formed` then.
template <class... A, class... B>
constexpr auto operator|(pipeline<A...> a, pipeline<B...> b) {
  if constexpr (!detail::check_once<A..., B...>()) {
    return diag::ill_formed{};
  } else if constexpr (!(detail::check_against<A, A..., B...>() && ...) ||
                       !(detail::check_against<B, A..., B...>() && ...)) {
    return diag::ill_formed{};
  } else {
    return hana::unpack(std::move(a).stages(), [&b](A&&... first) {
      return hana::unpack(std::move(b).stages(), [&first...](B&&... second) {
        return pipeline<A..., B...>(hana::basic_tuple<A..., B...>{std::move(first)..., std::move(second)...});
      });
    });
  }
}

}  // namespace redco
