#pragma once

#include <redco/options/check_fit.hpp>

#include <redco/data/batches.hpp>
#include <redco/data/sampler.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace redco {

REDCO_INLINE void check_fit(options::fit_settings const& s, int replicas) {
  std::pair<char const*, std::int64_t> const counts[] = {{"epochs", s.epochs},
                                                         {"max_steps", s.max_steps},
                                                         {"prefetch", s.prefetch},
                                                         {"eval_every_steps", s.eval_every_steps},
                                                         {"patience", s.patience},
                                                         {"save_every_steps", s.save_every_steps},
                                                         {"save_every_epochs", s.save_every_epochs},
                                                         {"keep_last", s.keep_last}};
  for (auto const& [name, value] : counts)
    if (value < 0)
      throw error(exit_code::usage, std::string(name) + " is " + std::to_string(value) + ": give 0 or more");
  std::int64_t const known = s.train_of_epoch ? 1 : s.train_size;
  batches(sampler(known), {s.global_batch, s.micro_batch, replicas, 0});
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

}  // namespace redco
