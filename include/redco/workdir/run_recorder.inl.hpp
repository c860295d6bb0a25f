#pragma once

#include <redco/workdir/run_recorder.hpp>

#include <redco/workdir/older_rows.hpp>
#include <redco/log/text.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/replace_file.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <utility>

namespace redco::workdir::detail {

inline json::json_value null_where_not_finite(json::json_value value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return nullptr;
  if (value.is_structured()) {
    for (auto& part : value) part = null_where_not_finite(std::move(part));
  }
  return value;
}

/// Keeps the rows of metrics.jsonl in `workdir` after step `steps_done`, and logs the name of their
/// file. Returns the step after which metrics.jsonl may be cut: none if the rows cannot be kept.
inline std::optional<std::int64_t> step_to_cut(std::filesystem::path const& workdir, std::int64_t steps_done,
                                               log::run_log& log) {
  safetensors::posix_file_ops ops;
  safetensors::disk disk(ops);
  try {
    std::filesystem::path const older = keep_older_rows(disk, workdir / "metrics.jsonl", steps_done);
    if (!older.empty())
      log.line("rows of metrics.jsonl after step " + std::to_string(steps_done) +
               ", of an earlier start, are kept in " + older.string());
    return steps_done;
  } catch (std::exception const& e) {
    log.warning("metrics.jsonl keeps the rows after step " + std::to_string(steps_done) +
                " of an earlier start, because they cannot be copied: " + e.what());
    return std::nullopt;
  }
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

REDCO_INLINE void write_results(std::filesystem::path const& file, json::json_value const& results) {
  safetensors::replace_file(file, json::dump_json(detail::null_where_not_finite(results), 2) + "\n",
                            "check the workdir");
}

REDCO_INLINE run_recorder::run_recorder(log::console& where, log::run_log& log, std::filesystem::path workdir,
                                        std::int64_t steps_done, std::string unit, bool evaluates_again)
    : workdir_(std::move(workdir)),
      log_(log),
      bar_(where),
      metrics_(
          workdir_ / "metrics.jsonl", detail::step_to_cut(workdir_, steps_done, log),
          [&log](std::string const& text) { log.warning(text); }, evaluates_again),
      events_(workdir_, {.purge_from_step = steps_done > 0 ? std::optional(steps_done + 1) : std::nullopt,
                         .warn = [&log](std::string const& text) { log.warning(text); }}),
      unit_(std::move(unit)) {}

REDCO_INLINE void run_recorder::begin_epoch(int epoch, int epochs, std::int64_t steps, std::int64_t done,
                                            std::int64_t run_left) {
  items_ = 0;
  bar_.start({"epoch " + std::to_string(epoch + 1) + "/" + std::to_string(epochs), steps, done, run_left, unit_});
  last_ = clock::now();
}

REDCO_INLINE double run_recorder::rate_of(double items) {
  auto const now = clock::now();
  double const seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  total_items_ += items;
  total_seconds_ += seconds;
  return seconds > 0 ? items / seconds : 0;
}

REDCO_INLINE void run_recorder::step(fit_event const& e, std::int64_t done_in_epoch, step_size const& size) {
  bool const in_tokens = unit_ == "tokens";
  double const items = !in_tokens ? static_cast<double>(size.examples) : size.tokens > 0 ? size.tokens : size.weight;
  double const rate = rate_of(items);
  items_ += items;
  // A step without weight has no loss.
  std::optional<double> const loss = std::isnan(e.loss) ? std::nullopt : std::optional(e.loss);
  bar_.update({done_in_epoch, loss, e.lr, e.grad_norm, static_cast<std::int64_t>(items_), {}});
  log::metrics_row row{e.step, e.loss, e.lr, e.grad_norm, rate, unit_, {}};
  std::vector<std::pair<std::string, double>> values = {
      {"train/lr", e.lr}, {"train/grad_norm", e.grad_norm}, {"train/" + unit_ + "_per_second", rate}};
  if (loss) values.emplace_back("train/loss", *loss);
  if (in_tokens && size.tokens > 0) {
    double const labels = rate * size.weight / size.tokens;
    row.more.emplace_back("labels_per_second", labels);
    values.emplace_back("train/labels_per_second", labels);
  }
  for (auto const& [name, value] : e.metrics) {
    row.more.emplace_back(name, value);
    if (!std::isnan(value)) values.emplace_back("train/term/" + name, value);
  }
  metrics_.write(row);
  std::vector<log::event_writer::named_value> const named(values.begin(), values.end());
  events_.scalars(e.step, named);
}

REDCO_INLINE void run_recorder::begin_loop(std::int64_t total, std::int64_t done) {
  bar_.start({"steps", total, done, 0, unit_});
  last_ = clock::now();
}

REDCO_INLINE void run_recorder::loop_step(std::int64_t step, std::int64_t steps,
                                          std::vector<std::pair<std::string, double>> const& values) {
  double const rate = rate_of(static_cast<double>(steps));
  metrics_.write_values(step, values, rate, unit_);
  std::vector<std::pair<std::string, double>> tagged = {{"train/" + unit_ + "_per_second", rate}};
  std::string note;
  for (auto const& [name, value] : values) {
    if (std::isfinite(value)) tagged.emplace_back("train/" + name, value);
    if (name.find('/') == std::string::npos || name.ends_with("/loss"))
      note += (note.empty() ? "" : " ") + name + " " + log::short_text(value, 3);
  }
  std::vector<log::event_writer::named_value> const named(tagged.begin(), tagged.end());
  events_.scalars(step, named);
  bar_.update({.done = step, .note = note});
}

REDCO_INLINE void run_recorder::save_best(best_metrics const& best) {
  for (std::string const side : {"min", "max"}) {
    json::json_value const values = best.values(side);
    if (!values.empty()) save(side + "_metrics.json", values);
  }
}

REDCO_INLINE void run_recorder::evaluation(options::metric_map const& metrics, std::int64_t step,
                                           std::optional<int> epoch) {
  std::string text = "evaluation after step " + std::to_string(step) + ":";
  json::json_value results = json::json_value::object();
  for (auto const& [name, value] : metrics) {
    text += " " + name + " " + (std::isnan(value) ? "none" : std::to_string(value));
    results[name] = value;
    if (!std::isnan(value)) events_.scalar("eval/" + name, value, step);
  }
  log_.line(text);
  metrics_.write_evaluation(step, epoch, metrics);
  results["step"] = step;
  save(epoch ? "eval_results_epoch" + std::to_string(*epoch) + ".json" : "eval_results.json", results);
}

REDCO_INLINE void run_recorder::save(std::string const& name, json::json_value const& results) {
  try {
    write_results(workdir_ / name, results);
    saved_.insert(workdir_ / name);
  } catch (std::exception const& e) {
    log_.warning(e.what());
  }
}

REDCO_INLINE void run_recorder::outputs(json::json_value const& outputs, std::int64_t step, int epoch) {
  save("outputs_epoch" + std::to_string(epoch) + ".json", outputs);
  constexpr std::size_t samples = 4;
  for (std::size_t i = 0; i < std::min(samples, outputs.size()); ++i) {
    json::json_value const& one = outputs[i];
    if (!one["output"].is_string()) continue;
    std::string text = "output: " + one["output"].get<std::string>();
    if (one["example"].is_string()) text = "example: " + one["example"].get<std::string>() + "\n\n" + text;
    events_.text("eval/sample_" + std::to_string(i), text, step);
  }
}

REDCO_INLINE std::vector<std::filesystem::path> run_recorder::files() const {
  std::vector<std::filesystem::path> all(saved_.begin(), saved_.end());
  if (auto const events = events_.path(); !events.empty()) all.push_back(events);
  return all;
}

REDCO_INLINE run_recorder::~run_recorder() = default;

}  // namespace redco::workdir
