#pragma once

#include <redco/run/run_recorder.hpp>

#include <redco/run/results_file.hpp>
#include <redco/json/impl/value.hpp>
#include <redco/config.hpp>

namespace redco {

REDCO_INLINE run_recorder::run_recorder(console& where, run_log& log, std::filesystem::path workdir,
                                        std::int64_t steps_done)
    : workdir_(std::move(workdir)),
      log_(log),
      bar_(where),
      metrics_(workdir_ / "metrics.jsonl", steps_done, [&log](std::string const& text) { log.warning(text); }),
      events_(workdir_, {.purge_from_step = steps_done > 0 ? std::optional(steps_done + 1) : std::nullopt,
                         .warn = [&log](std::string const& text) { log.warning(text); }}) {}

REDCO_INLINE void run_recorder::begin_epoch(int epoch, int epochs, std::int64_t steps, std::int64_t done,
                                            std::int64_t run_left) {
  items_ = 0;
  bar_.start({"epoch " + std::to_string(epoch + 1) + "/" + std::to_string(epochs), steps, done, run_left, "tok"});
  last_ = clock::now();
}

REDCO_INLINE void run_recorder::step(fit_event const& e, std::int64_t done_in_epoch, double weight) {
  auto const now = clock::now();
  double const seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  rate_ = seconds > 0 ? weight / seconds : 0;
  total_weight_ += weight;
  total_seconds_ += seconds;
  items_ += static_cast<std::int64_t>(weight);
  bar_.update({done_in_epoch, e.loss, e.lr, e.grad_norm, items_, {}});
  metrics_row row{e.step, e.loss, e.lr, e.grad_norm, rate_, {}};
  for (auto const& [name, value] : e.metrics) row.more.emplace_back(name, value);
  metrics_.write(row);
  event_writer::named_value const values[] = {
      {"train/loss", e.loss}, {"train/lr", e.lr}, {"train/grad_norm", e.grad_norm}, {"train/tokens_per_second", rate_}};
  events_.scalars(e.step, values);
}

REDCO_INLINE void run_recorder::evaluation(metric_map const& metrics, std::int64_t step, int epoch) {
  std::string text = "evaluation after step " + std::to_string(step) + ":";
  json_value results = json_value::object();
  for (auto const& [name, value] : metrics) {
    text += " " + name + " " + std::to_string(value);
    results[name] = value;
    events_.scalar("eval/" + name, value, step);
  }
  log_.line(text);
  results["step"] = step;
  save("eval_results_epoch" + std::to_string(epoch) + ".json", results);
}

REDCO_INLINE void run_recorder::save(std::string const& name, json_value const& results) {
  try {
    write_results(workdir_ / name, results);
  } catch (std::exception const& e) {
    log_.warning(e.what());
  }
}

REDCO_INLINE void run_recorder::text(std::string const& tag, std::string const& content, std::int64_t step) {
  events_.text(tag, content, step);
}

REDCO_INLINE run_recorder::~run_recorder() = default;

}  // namespace redco
