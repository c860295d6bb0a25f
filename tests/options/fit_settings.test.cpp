#include "catch.hpp"

#include <redco/options/fit_options.hpp>
#include <redco/options/fit_settings.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using fit_options = redco::fit_options<int, int, std::function<void()>>;

/// Returns the error of the options for 5 examples on 2 replicas: "64 ...", or "" if there is none.
std::string said(fit_options const& o, std::int64_t examples = 5, bool has_predict = true) {
  try {
    redco::options::check_fit(redco::options::settings_of_fit(o, {}, examples, has_predict), 2);
    return "";
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
}

}  // namespace

TEST_CASE("standard options are accepted, and counts below zero are refused by name") {
  CHECK(said({}).empty());
  CHECK(said({.epochs = -1}) == "64 epochs is -1: give 0 or more");
  CHECK(said({.max_steps = -2}).starts_with("64 max_steps is -2"));
  CHECK(said({.prefetch = -1}).starts_with("64 prefetch is -1"));
  CHECK(said({.collate_threads = 0}) == "64 collate_threads is 0: give 1 or more");
  CHECK(said({.prefetch = 0, .collate_threads = 2}).starts_with("64 collate_threads is 2 and prefetch is 0"));
  CHECK(said({.eval_every_steps = -3}).starts_with("64 eval_every_steps is -3"));
  CHECK(said({.save_every_steps = -4}).starts_with("64 save_every_steps is -4"));
  CHECK(said({.save_every_epochs = -5}).starts_with("64 save_every_epochs is -5"));
  CHECK(said({.keep_last = -6}).starts_with("64 keep_last is -6"));
}

TEST_CASE("a batch needs an example per replica, and data are required unless each epoch brings its own") {
  CHECK(said({.global_batch = 1}).starts_with("64 "));
  CHECK(said({.global_batch = 2}).empty());
  CHECK(said({}, 0).starts_with("65 "));
  fit_options of_epochs;
  of_epochs.train_of_epoch = [](int) { return redco::examples<int>(std::vector<int>{1, 2}); };
  CHECK(said(of_epochs, 0).empty());
}

TEST_CASE("patience and the best state need an evaluation and a watched metric, and metrics need a prediction") {
  std::vector<int> const held_out{1, 2};
  CHECK(said({.patience = 2}).find("no evaluation to be patient with") != std::string::npos);
  CHECK(said({.eval = held_out, .patience = 2}).empty());
  CHECK(said({.eval = held_out, .patience = 2, .save_argmin = {}}).find("no metric is watched") != std::string::npos);
  CHECK(said({.eval = held_out, .patience = 2, .save_argmin = {}, .save_argmax = {"accuracy"}}).empty());
  CHECK(said({.restore_best = true}).starts_with("64 restore_best needs an evaluation"));
  CHECK(said({.eval = held_out, .restore_best = true, .save_argmin = {}}).starts_with("64 restore_best"));
  CHECK(said({.eval = held_out, .restore_best = true}).empty());
  CHECK(said({.eval_predictions = true}, 5, false).starts_with("64 eval_predictions and metrics need a prediction"));
  CHECK(said({.eval_predictions = true}, 5, true).empty());
}

TEST_CASE("the flag --collate-threads gives the number of threads, unless the program does") {
  redco::training_flags const flags{.collate_threads = 4};
  CHECK(redco::options::settings_of_fit(fit_options(), flags, 5, true).collate_threads == 4);
  CHECK(redco::options::settings_of_fit(fit_options{.collate_threads = 2}, flags, 5, true).collate_threads == 2);
}
