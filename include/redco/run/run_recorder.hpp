#pragma once

#include <redco/json/value.hpp>
#include <redco/run/console.hpp>
#include <redco/run/event_writer.hpp>
#include <redco/run/fit_options.hpp>
#include <redco/run/metrics_log.hpp>
#include <redco/run/progress.hpp>
#include <redco/run/results_file.hpp>
#include <redco/run/run_log.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// What rank 0 writes while training: the bar, metrics.jsonl, TensorBoard events, results files. Failing logs never
/// stop a run; they are counted.
class run_recorder {
 public:
  run_recorder(console& where, run_log& log, std::filesystem::path workdir, std::int64_t steps_done)
      : workdir_(std::move(workdir)),
        log_(log),
        bar_(where),
        metrics_(workdir_ / "metrics.jsonl", steps_done, [&log](std::string const& text) { log.warning(text); }),
        events_(workdir_, {.purge_from_step = steps_done > 0 ? std::optional(steps_done + 1) : std::nullopt,
                           .warn = [&log](std::string const& text) { log.warning(text); }}) {}

  void begin_epoch(int epoch, int epochs, std::int64_t steps, std::int64_t done, std::int64_t run_left) {
    items_ = 0;
    bar_.start({"epoch " + std::to_string(epoch + 1) + "/" + std::to_string(epochs), steps, done, run_left, "tok"});
    last_ = clock::now();
  }

  void step(fit_event const& e, std::int64_t done_in_epoch, double weight) {
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
    event_writer::named_value const values[] = {{"train/loss", e.loss},
                                                {"train/lr", e.lr},
                                                {"train/grad_norm", e.grad_norm},
                                                {"train/tokens_per_second", rate_}};
    events_.scalars(e.step, values);
  }

  /// An evaluation is no training time.
  void resume_clock() { last_ = clock::now(); }
  void end_epoch() { bar_.finish(); }

  void evaluation(metric_map const& metrics, std::int64_t step, int epoch) {
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

  /// Writes a results file; a failure is a warning.
  void save(std::string const& name, json_value const& results) {
    try {
      write_results(workdir_ / name, results);
    } catch (std::exception const& e) {
      log_.warning(e.what());
    }
  }

  void text(std::string const& tag, std::string const& content, std::int64_t step) { events_.text(tag, content, step); }

  double tokens_per_second() const { return total_seconds_ > 0 ? total_weight_ / total_seconds_ : 0; }
  std::int64_t lost() const { return metrics_.lost() + events_.lost(); }

 private:
  using clock = std::chrono::steady_clock;

  std::filesystem::path workdir_;
  run_log& log_;
  progress bar_;
  metrics_log metrics_;
  event_writer events_;
  clock::time_point last_ = clock::now();
  std::int64_t items_ = 0;
  double rate_ = 0, total_weight_ = 0, total_seconds_ = 0;
};

}  // namespace redco
