#pragma once

#include <redco/run/fit_saves.hpp>

#include <redco/ckpt/write_on_first.hpp>
#include <redco/workdir/repair_checkpoints.hpp>
#include <redco/config.hpp>

#include <filesystem>

namespace redco::run {

REDCO_INLINE fit_saves::fit_saves(deployer& where, rank_context& rank, run_state& state, fit_job& job,
                                  options::fit_settings const& settings, fit_report& report,
                                  std::optional<workdir::run_recorder>& recorder)
    : where_(where),
      rank_(rank),
      state_(state),
      job_(job),
      options_(settings),
      report_(report),
      recorder_(recorder),
      best_(settings.save_argmin, settings.save_argmax),
      attempts_(where, rank) {}

REDCO_INLINE void fit_saves::resume(workdir::found_checkpoint const& found, workdir::best_metrics::table const& best) {
  saved_best_ = report_.best = best;
  best_ = workdir::best_metrics(options_.save_argmin, options_.save_argmax, best, found.facts.patience);
  interrupted = saved_interrupted_ = found.facts.interrupted;
  report_.checkpoint = found.directory;
  if (first() && best != found.facts.best)
    where_.log().line("not all of its best checkpoints are in this workdir: theirs are looked for anew");
}

REDCO_INLINE std::map<std::string, std::string> fit_saves::digests() {
  std::vector<std::string> notes;
  auto all = first() ? job_.digests(notes) : std::map<std::string, std::string>();
  for (std::string const& note : notes)
    if (notes_.insert(note).second) where_.log().quiet_line(note);
  return all;
}

REDCO_INLINE workdir::save_options fit_saves::facts(data_state const& data, std::vector<std::string> const& names) {
  workdir::save_options to;
  to.pointers = names;
  to.keep_last = options_.keep_last;
  to.facts.epoch = data.at.epoch;
  to.facts.epoch_position = data.at.position;
  to.facts.data = {state_.seed(), data.examples};
  to.facts.best = best_.best();
  to.facts.patience = best_.patience();
  to.facts.interrupted = interrupted;
  to.facts.digests = digests();
  to.facts.config = report_.settings;
  return to;
}

REDCO_INLINE void fit_saves::save(data_state const& data, std::vector<std::string> const& names,
                                  circumstances const& when) {
  if (state_.is_saved() && names.empty() && saved_interrupted_ == interrupted) return;
  workdir::save_options to = facts(data, names);
  if (when.before_evaluation) to.keep_last = 0;
  std::filesystem::path path;
  if (attempts_.attempt(when.last, [&] { path = state_.is_saved() ? state_.amend(to) : state_.save(to); })) {
    saved_best_ = best_.best();
    saved_interrupted_ = interrupted;
    if (first()) {
      report_.checkpoint = path;
      report_.best = saved_best_;
    }
    // Files and checkpoint agree even if the run is killed.
    ckpt::write_on_first(rank_.world, "writing the best metrics", where_.disk_limits(),
                         [&] { recorder_->save_best(best_); });
  } else {
    best_.restore(saved_best_);
  }
  if (first()) recorder_->resume_clock();
}

REDCO_INLINE void fit_saves::set_aside() {
  if (!first() || !state_.is_saved()) return;
  workdir::set_step_aside(where_.lock(), state_.step());
  where_.log().line("the checkpoint of step " + std::to_string(state_.step()) +
                    " is renamed to .older-*, because its evaluation is not finite");
}

}  // namespace redco::run
