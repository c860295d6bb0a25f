#pragma once

#include <redco/data/batches.hpp>
#include <redco/data/sampler.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace redco {

/// What is wrong with `fit_options` before any work: `examples` to train on, divided over `replicas`, by a pipeline with a
/// prediction or without. Errors: exit code 64, and 65 where there is no example.
template <class Options>
void check_fit_options(Options const& options, std::int64_t examples, int replicas, bool has_predict) {
  std::pair<char const*, std::int64_t> const counts[] = {{"epochs", options.epochs},
                                                         {"max_steps", options.max_steps},
                                                         {"prefetch", options.prefetch},
                                                         {"eval_every_steps", options.eval_every_steps},
                                                         {"patience", options.patience},
                                                         {"save_every_steps", options.save_every_steps},
                                                         {"save_every_epochs", options.save_every_epochs},
                                                         {"keep_last", options.keep_last}};
  for (auto const& [name, value] : counts)
    if (value < 0)
      throw error(exit_code::usage, std::string(name) + " is " + std::to_string(value) + ": give 0 or more");
  std::int64_t const known = options.train_of_epoch ? 1 : examples;
  batches(sampler(known), {options.global_batch, options.micro_batch, replicas, 0});
  if (options.patience > 0 && options.eval.size() == 0)
    throw error(exit_code::usage, "patience is " + std::to_string(options.patience) +
                                      " and there is no evaluation to be patient with: give eval, or patience 0");
  if (options.patience > 0 && options.save_argmin.empty() && options.save_argmax.empty())
    throw error(exit_code::usage, "patience is " + std::to_string(options.patience) +
                                      " and no metric is watched: name one in save_argmin or save_argmax");
  if (!has_predict && (options.eval_predictions || options.metrics))
    throw error(exit_code::usage,
                "eval_predictions and metrics need a prediction: add redco::predict(f) to the pipeline");
  if (options.restore_best &&
      (options.eval.size() == 0 || options.save_argmin.size() + options.save_argmax.size() == 0))
    throw error(exit_code::usage, "restore_best needs an evaluation: give eval, and save_argmin or save_argmax");
}

}  // namespace redco
