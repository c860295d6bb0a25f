#pragma once

#include <redco/run/fit_loop.hpp>

#include <redco/run/evaluation_values.hpp>
#include <redco/run/example_digest.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/fit_result.hpp>
#include <redco/run/fit_work.hpp>
#include <redco/run/process_choices.hpp>
#include <redco/run/run_state.hpp>
#include <redco/run/stage_choices.hpp>
#include <redco/run/step.hpp>
#include <redco/run/step_work.hpp>
#include <redco/ckpt/write_on_first.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/workdir/run_config.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/data/sampler.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace redco::run::detail {

/// Returns a line for the log if batch norm takes its statistics over fewer examples than the
/// global batch, because each step has several micro-batches. Returns an empty text otherwise.
inline std::string smaller_rounds(nn::network_base const& net, std::int64_t global_batch, std::int64_t micro_batch,
                                  int replicas) {
  std::int64_t const at_once = micro_batch * replicas;
  if (!net.meets_replicas() || at_once == 0 || at_once >= global_batch) return "";
  return "batch norm takes its statistics over " + std::to_string(at_once) +
         " examples, not over the global batch of " + std::to_string(global_batch) +
         ": other meshes and micro-batches train otherwise";
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE fit_loop::fit_loop(deployer& where, rank_context& rank, network_state& network, fit_job& job,
                                options::fit_settings const& settings, std::function<void()> const& load_start,
                                fit_report& report)
    : where_(where),
      rank_(rank),
      network_(network),
      state_(where, rank, report.run),
      job_(job),
      options_(settings),
      load_start_(load_start),
      report_(report),
      saves_(where, rank, state_, job, settings, report, recorder_),
      weights_(where.log()) {
  state_.add(network);
}

REDCO_INLINE void fit_loop::note_files() {
  if (!recorder_) return;
  report_.files = recorder_->files();
  report_.lost_rows = recorder_->lost();
}

/// Adds a user's object to the checkpoints of the fit. The ranks of a process share the object, so
/// only the first rank of each process reads it from a checkpoint.
REDCO_INLINE void fit_loop::keep(std::string const& name, run_state::kept_object object) {
  if (!rank_.first_of_process) object.read = [](std::string const&, std::string const&) {};
  state_.keep(name, std::move(object));
}

REDCO_INLINE void fit_loop::run() {
  try {
    train();
  } catch (evaluation_stopped const&) {
    preempted_ = evaluation_stopped_ = true;
  }
  share_result();
}

/// Ends a fit: sends the record of the fit from rank 0 to all ranks, and gathers the memory and
/// message counts of all ranks.
REDCO_INLINE void fit_loop::share_result() {
  comm::collective_label const label("the end of a fit");
  report_.signal =
      state_.signal_of_all(preempted_ && (!finished() || evaluation_stopped_) ? where_.stop_requested() : 0);
  note_files();
  broadcast_from_first(static_cast<workdir::fit_record&>(report_), rank_.world, "the result of a fit");
  auto const measures = comm::gather_texts(rank_.world, workdir::object_bytes(measure_));
  for (std::size_t rank = 0; rank < measures.size(); ++rank)
    workdir::read_object(measures[rank], report_.measures[rank], "the measure of a step");
}

REDCO_INLINE void fit_loop::train() {
  start();
  // The run was complete before this fit: all rows are written already.
  if (ended() && !saves_.interrupted) {
    if (first()) where_.log().line("nothing is left to train after step " + std::to_string(step()));
    if (options_.eval_size > 0) measured(options_.eval_size);
    return restore_best();
  }
  state_.set_older_aside();
  if (first() && (options_.save_last || options_.save_every_steps + options_.save_every_epochs > 0))
    check_room(where_, state_, kept_checkpoints(options_, length_));
  if (options_.sanity_check && options_.eval_size > 0) sanity_check();
  if (saves_.interrupted) after_step(run_epoch_of(position_));
  while (!ended()) run_epoch();
  if (options_.save_last || preempted_) save({}, {.last = true});
  if (!preempted_) restore_best();
}

REDCO_INLINE bool fit_loop::finished() const {
  return position_.epoch >= *options_.epochs || (*options_.max_steps > 0 && step() >= *options_.max_steps);
}

REDCO_INLINE evaluation_settings fit_loop::settings_of_evaluation() const {
  return {*options_.global_batch, *options_.micro_batch, state_.seed(), step()};
}

/// Computes the number of steps of the run again, from the number of examples of the current epoch.
REDCO_INLINE void fit_loop::set_length(std::int64_t examples) {
  std::int64_t const known = length_.steps;
  length_ = options::run_length_of(options_, examples);
  if (first() && length_.steps != known) workdir::add_rates(report_.settings, network_.optimizer, length_.steps);
}

REDCO_INLINE std::int64_t fit_loop::begin_epoch(std::int64_t epoch) {
  if (!options_.has_train_of_epoch) return job_.begin_epoch(epoch);
  return user_call("train_of_epoch", step(), [&] { return job_.begin_epoch(epoch); });
}

REDCO_INLINE void fit_loop::start() {
  if (auto const found = state_.find()) {
    resume(*found);
  } else {
    load_start_();
    network_.store.publish();
  }
  report_.run = state_.id();
  if (where_.options().check_saved && network_.network().exchanges_rows())
    throw error(exit_code::usage,
                "--check-saved with ranks along ep: the rows that experts save follow from the routing, and cannot be "
                "declared; give ep 1, or leave --check-saved out");
  if (where_.options().cuda_graph) {
    step_graphs::check(network_, rank_, job_.several_terms());
    graphs_.emplace(where_.device(rank_.rank));
  }
  if (first()) describe_start();
  ckpt::write_on_first(rank_.world, "opening the outputs of the run", where_.disk_limits(), [&] {
    recorder_.emplace(where_.console(), where_.log(), where_.workdir(), step(), report_.unit, saves_.interrupted);
    recorder_->save("config.json", workdir::run_config(options_.config, where_.dtype_choice()));
    recorder_->save_best(saves_.best());
  });
}

/// Logs the choices of a fit that begins, and notes them in the report. Called by rank 0.
REDCO_INLINE void fit_loop::describe_start() {
  where_.run_began();
  report_.started(step(), run_epoch_of(position_));
  if (auto const text =
          detail::smaller_rounds(network_.network(), *options_.global_batch, *options_.micro_batch, replicas());
      !text.empty())
    where_.log().line(text);
  log_choices(where_);
  if (where_.overlaps_shards())
    where_.log().quiet_line("the exchange between " + std::to_string(where_.mesh().tp) +
                            " shards overlaps their matrix products");
  report_.unit = options_.unit.empty() ? job_.unit() : options_.unit;
}

REDCO_INLINE void fit_loop::resume(workdir::found_checkpoint const& found) {
  workdir::best_metrics::table const best = state_.load(found);
  // Continue only after all processes have read their kept objects.
  rank_.world.barrier();
  workdir::manifest const& facts = found.facts;
  data::data_position const at{facts.epoch, facts.epoch_position};
  std::int64_t const examples = begin_epoch(run_epoch_of(at));
  if (facts.data.examples != examples)
    throw error(exit_code::data, found.directory.string() + " was saved with " + std::to_string(facts.data.examples) +
                                     " training examples, this run has " + std::to_string(examples) +
                                     ": give the same data, or start anew with --resume none");
  position_ = at;
  set_length(examples);
  saves_.resume(found, best);
  out_of_patience_ = options_.patience > 0 && saves_.best().stale() >= options_.patience;
  state_.compare_settings(facts, report_.settings);
  state_.compare_digests(found, saves_.digests());
}

/// Returns loss and metrics of the first `examples` evaluation examples, equal on all ranks. If
/// `warns` is true, rank 0 logs a warning for each loss in which no token or example counted.
/// If `may_stop` is true, throws evaluation_stopped on all ranks after a signal.
REDCO_INLINE options::metric_map fit_loop::measured(std::int64_t examples, bool warns, bool may_stop) {
  evaluation_values const values(network_, rank_);
  evaluation_settings how = settings_of_evaluation();
  if (may_stop) how.stops = [this] { return state_.signal_of_all(where_.stop_requested()) != 0; };
  auto const all = [&] { return job_.evaluation(evaluation_order(rank_, examples, how)); };
  options::metric_map metrics = evaluated_loss(rank_, network_.network(), *all(), how);
  for (auto const& [name, value] : metrics)
    if (warns && first() && std::isnan(value))
      where_.log().warning("the evaluation after step " + std::to_string(step()) + " has no " + name +
                           ": nothing counted in it (are all labels masked?)");
  if (options_.predicts()) {
    if (rank_.first_of_process) job_.begin_predictions(examples);
    rank_.world.barrier();
    predict_all(rank_, network_.network(), *all(), how);
    if (first())
      for (auto const& [name, value] : user_call("metrics", step(), [&] { return job_.metrics(); }))
        metrics[name] = value;
  }
  broadcast_from_first(metrics, rank_.world, "an evaluation");
  if (first()) report_.evaluation = metrics;
  saves_.best().check(metrics);
  return metrics;
}

REDCO_INLINE void fit_loop::run_epoch() {
  std::int64_t const examples = begin_epoch(position_.epoch);
  check_same_examples(rank_.world, examples, job_.digest_of_epoch(), position_.epoch);
  set_length(examples);
  data::sampler const order(examples, state_.seed());
  data::batches const all(
      order, {*options_.global_batch, *options_.micro_batch, replicas(), rank_.coordinate(shape::batch_axes)},
      position_);
  check_micro_batches(all.step(0), *options_.global_batch, where_.schedule(), rank_.mesh);
  std::int64_t const done_before = length_.steps_per_epoch - all.steps();
  auto const source = job_.training({order,
                                     all,
                                     position_.epoch,
                                     {state_.seed(), step()},
                                     {options_.prefetch, *options_.collate_threads, prefetch_scope(rank_)}});
  if (first()) {
    report_.steps = length_.steps;
    std::int64_t const here = std::min(length_.steps_per_epoch, done_before + length_.steps - step());
    recorder_->begin_epoch(static_cast<int>(position_.epoch), *options_.epochs, here, done_before,
                           length_.steps - step() - (here - done_before));
  }
  int const epoch = static_cast<int>(position_.epoch);
  for (std::int64_t k = 0; k < all.steps() && !ended(); ++k) {
    data::batch_step const at = all.step(k);
    run_step(*source, at, epoch, done_before + k + 1);
    position_ = at.next;
    // Save at once: a scheduler that preempts the run may not wait for an evaluation.
    if (preempted_) {
      saves_.interrupted = true;
      save({});
      if (!finished()) break;
    }
    after_step(epoch);
    if (position_.epoch > epoch) break;
  }
  if (first()) recorder_->end_epoch();
}

/// Does the work that is due after the update of a step: saves, evaluates, and names the checkpoint
/// if the evaluation is the best so far. If a signal or a kill ends the run before the end of this
/// work, the resumed run starts with it.
REDCO_INLINE void fit_loop::after_step(int epoch) {
  bool const whole = position_.epoch > epoch, ends = whole || finished();
  auto const due = [&](std::int64_t every) { return every > 0 && step() % every == 0; };
  bool const evaluates = options_.eval_size > 0 && (ends || due(options_.eval_every_steps));
  if (ends && first()) recorder_->end_epoch();
  std::vector<std::string> names;
  if (whole && options_.save_every_epochs > 0 && (epoch + 1) % options_.save_every_epochs == 0)
    names.push_back("epoch_" + std::to_string(epoch));
  // Save first: a scheduler that ends the run may not wait for an evaluation.
  saves_.interrupted = evaluates;
  bool const saves = due(options_.save_every_steps) || !names.empty() || (ends && options_.save_last);
  if (saves) save(names, {.before_evaluation = evaluates});
  options::metric_map metrics;
  if (evaluates) {
    auto const found = evaluate(epoch);
    if (!found) return;
    metrics = *found;
    std::vector<std::string> const improved = update_best(metrics);
    saves_.interrupted = false;
    // A step is tried once: if its save has failed, its best values do not count.
    if (saves && !state_.is_saved()) saves_.best().restore(saves_.saved_best());
    else if (state_.is_saved() || !improved.empty()) save(improved);
  }
  if (ends && first() && options_.on_epoch)
    user_call("on_epoch", step() - 1, [&] {
      options_.on_epoch({step(), epoch, report_.losses.empty() ? 0 : report_.losses.back(), 0, 0, metrics});
    });
}

REDCO_INLINE void fit_loop::run_step(computed_batches& source, data::batch_step const& at, int epoch,
                                     std::int64_t done_in_epoch) {
  diag::run_position::begin_step(step());
  if (step() == report_.measured_step) step_measure::begin(rank_, where_.device(rank_.rank));
  pass in = state_.pass(0, 0);
  in.check_saved = where_.options().check_saved && step() == state_.first_step();
  fit_work work(source, in, step(), graphs_ ? &*graphs_ : nullptr);
  step_executor one(network_, rank_, work.facts(at, job_.several_terms(), where_.schedule()), where_.gradient_bucket());
  step_result const result = one.run(work, {step(), length_.steps, where_.stop_requested() != 0});
  if (step() == report_.measured_step) end_measure();
  state_.end_step();
  preempted_ = result.stop;
  if (!first()) return;
  if (in.check_saved) where_.log().line("--check-saved: the first step saves what the layers declare");
  weights_.after_update(result, step());
  fit_event event{step(), epoch, result.loss, result.lr, result.grad_norm, {result.terms.begin(), result.terms.end()}};
  recorder_->step(event, done_in_epoch, {result.tokens, result.weight, at.global.size()});
  report_.after_step(event, recorder_->per_second());
  if (options_.on_step) user_call("on_step", step() - 1, [&] { options_.on_step(event); });
}

REDCO_INLINE void fit_loop::end_measure() {
  measure_ = step_measure::end(rank_, where_.device(rank_.rank));
  if (!first() || measure_.device_bytes == 0) return;
  where_.log().quiet_line("step " + std::to_string(step() + 1) + ": " + std::to_string(measure_.device_bytes) +
                          " bytes of tensors at most on " + where_.device(rank_.rank).str() +
                          ", whose allocator had taken " + std::to_string(measure_.reserved_bytes));
}

/// Evaluates the network after a step. Returns nothing if a signal ends the evaluation; the step is
/// then saved, and the resumed run evaluates it.
REDCO_INLINE std::optional<options::metric_map> fit_loop::evaluate(int epoch) {
  options::metric_map metrics;
  try {
    metrics = measured(options_.eval_size, true);
  } catch (evaluation_stopped const&) {
    preempted_ = evaluation_stopped_ = true;
    save({});
    return std::nullopt;
  } catch (error const& e) {
    if (e.code() == exit_code::not_finite) saves_.set_aside();
    throw;
  }
  ckpt::write_on_first(rank_.world, "writing the results of step " + std::to_string(step()), where_.disk_limits(), [&] {
    if (options_.predicts()) recorder_->outputs(*job_.outputs().value, step(), epoch);
    recorder_->evaluation(metrics, step(), epoch);
    where_.write_page();
    recorder_->resume_clock();
  });
  return metrics;
}

/// Adds the metrics of an evaluation to the best metrics, and ends the fit if its patience is used
/// up. Returns the checkpoint names, such as "min_loss", for which this step is the best so far.
REDCO_INLINE std::vector<std::string> fit_loop::update_best(options::metric_map const& metrics) {
  std::vector<std::string> const improved = saves_.best().update(metrics, step());
  if (options_.patience > 0 && saves_.best().stale() >= options_.patience && !out_of_patience_) {
    out_of_patience_ = true;
    if (first()) where_.log().line("stopped: no better evaluation in the last " + std::to_string(options_.patience));
  }
  return improved;
}

/// Loads the best checkpoint into the network and evaluates it, if the option `restore_best` is
/// set.
REDCO_INLINE void fit_loop::restore_best() {
  auto const best = saves_.saved_best().find(saves_.best().first());
  if (!options_.restore_best || best == saves_.saved_best().end()) return;
  auto const path =
      where_.workdir() / workdir::checkpoint_names::folder / workdir::checkpoint_names::of_step(best->second.step);
  state_.load_network(path, network_);
  if (first()) where_.log().line("ended with " + best->first + " of step " + std::to_string(best->second.step));
  measured(options_.eval_size);
}

}  // namespace redco::run
