#pragma once

#include <redco/options/fit_settings.hpp>

#include <redco/options/detail/bounds.hpp>
#include <redco/data/batches.hpp>
#include <redco/data/sampler.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string>

namespace redco::options {

REDCO_INLINE void check_fit(fit_settings const& s, int replicas) {
  auto const check = [](auto const& field, std::int64_t value) {
    detail::bounds const range{field.least, field.most};
    if (range.exclude(value))
      throw error(exit_code::usage,
                  std::string(field.name()) + " is " + std::to_string(value) + ": give " + range.text());
  };
  meta::for_each_named(s, [&](auto const& field, auto const& option) {
    if constexpr (requires { std::int64_t{option}; }) check(field, option);
    else if constexpr (requires { std::int64_t{*option}; }) check(field, *option);
  });
  std::int64_t const known = s.has_train_of_epoch ? 1 : s.train_size;
  data::batches(data::sampler(known), {*s.global_batch, *s.micro_batch, replicas, 0});
  if (*s.collate_threads > 1 && s.prefetch == 0)
    throw error(exit_code::usage, "collate_threads is " + std::to_string(*s.collate_threads) +
                                      " and prefetch is 0, which collates without a thread: raise prefetch");
  if (s.patience > 0 && s.eval_size == 0)
    throw error(exit_code::usage, "patience is " + std::to_string(s.patience) +
                                      " and there is no evaluation to be patient with: give eval, or patience 0");
  if (s.patience > 0 && s.save_argmin.empty() && s.save_argmax.empty())
    throw error(exit_code::usage, "patience is " + std::to_string(s.patience) +
                                      " and no metric is watched: name one in save_argmin or save_argmax");
  if (!s.has_predict && s.predicts())
    throw error(exit_code::usage,
                "eval_predictions and metrics need a prediction: add redco::predict(f) to the pipeline");
  if (s.restore_best && (s.eval_size == 0 || s.save_argmin.size() + s.save_argmax.size() == 0))
    throw error(exit_code::usage, "restore_best needs an evaluation: give eval, and save_argmin or save_argmax");
}

}  // namespace redco::options
