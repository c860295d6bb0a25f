#pragma once

#include <redco/log/append_file.hpp>
#include <redco/json/dump.hpp>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::log {

/// Returns the unit in which a run's speed is counted, chosen by the members of the type `Batch`.
/// The unit is "tokens" for `input_ids` or `decoder_ids`, "images" for `images`, `image` or
/// `pixel_values`, and otherwise "examples".
template <class Batch>
constexpr std::string_view unit_of() {
  if constexpr (
      requires(Batch const& b) { b.input_ids; } || requires(Batch const& b) { b.decoder_ids; })
    return "tokens";
  else if constexpr (
      requires(Batch const& b) { b.images; } || requires(Batch const& b) { b.image; } ||
      requires(Batch const& b) { b.pixel_values; })
    return "images";
  else return "examples";
}

/// A row of metrics of one step, to be written to metrics.jsonl. NaN and infinite numbers are
/// written as null.
struct metrics_row {
  std::int64_t step = 0;
  double loss = 0;
  double learning_rate = 0;
  double grad_norm = 0;
  double per_second = 0;
  /// Unit of the member `per_second`, such as "tokens" for tokens per second.
  std::string unit = "tokens";
  /// Further metrics of the step, as pairs of a name and a value.
  std::vector<std::pair<std::string, double>> more = {};
};

/// A writer of `metrics.jsonl`, with one JSON object per line: one per step, and one per
/// evaluation:
///
///   {"step":1,"loss":5.5,"lr":3e-04,"grad_norm":0.8,"tokens_per_second":1200}
///   {"step":1,"epoch":0,"eval/loss":5.4}
///
/// Each row is passed to the system before the call returns. Numbers have the fewest digits that
/// read back as equal doubles. Failures are counted and never stop a training run. Thread-safe.
class metrics_log {
 public:
  /// Opens `file` for appending. If a run resumes after step `last_step`, rows of later steps are
  /// removed, because the run writes them again. With `evaluates_again`, the row of that step's
  /// evaluation is removed too. A half-written last line is removed. Thus the file has one row per
  /// step and one per evaluation.
  explicit metrics_log(std::filesystem::path const& file, std::optional<std::int64_t> last_step = {},
                       std::function<void(std::string const&)> warn = {}, bool evaluates_again = false)
      : file_(file, std::move(warn)) {
    if (auto const bytes = kept_bytes(file, last_step, evaluates_again)) file_.cut(*bytes);
  }

  void write(metrics_row const& row) {
    json::json_line line;
    line.add("step", row.step);
    line.add("loss", row.loss);
    line.add("lr", row.learning_rate);
    line.add("grad_norm", row.grad_norm);
    line.add(row.unit + "_per_second", row.per_second);
    for (auto const& [name, value] : row.more) line.add(name, value);
    append(line);
  }

  /// Writes a row of named values of step `step`, for a training loop that a program writes itself.
  void write_values(std::int64_t step, std::vector<std::pair<std::string, double>> const& values, double per_second,
                    std::string const& unit) {
    json::json_line line;
    line.add("step", step);
    for (auto const& [name, value] : values) line.add(name, value);
    line.add(unit + "_per_second", per_second);
    append(line);
  }

  /// Writes the row of an evaluation that follows update number `step`.
  void write_evaluation(std::int64_t step, std::optional<int> epoch, std::map<std::string, double> const& metrics) {
    json::json_line line;
    line.add("step", step);
    if (epoch) line.add("epoch", *epoch);
    for (auto const& [name, value] : metrics) line.add("eval/" + name, value);
    append(line);
  }

  /// Returns the number of rows that could not be written to the file.
  std::int64_t lost() const {
    std::scoped_lock lock(mutex_);
    return file_.lost();
  }

  /// Returns the number of bytes of `file` before the first row that is half-written or later than
  /// `last_step`; with `evaluates_again`, also before the row of an evaluation after `last_step`.
  /// Returns nothing if all rows may stay.
  static std::optional<std::uintmax_t> kept_bytes(std::filesystem::path const& file,
                                                  std::optional<std::int64_t> last_step, bool evaluates_again = false) {
    constexpr std::string_view head = "{\"step\":", of_evaluation = "\"eval/";
    std::error_code ignored;
    // A device or a pipe has no rows to keep.
    if (!std::filesystem::is_regular_file(file, ignored)) return {};
    std::ifstream lines(file, std::ios::binary);
    std::uintmax_t kept = 0;
    for (std::string line; std::getline(lines, line); kept += line.size() + 1) {
      if (lines.eof()) return kept;
      std::int64_t step = 0;
      if (!last_step || line.compare(0, head.size(), head) != 0) continue;
      std::from_chars(line.data() + head.size(), line.data() + line.size(), step);
      bool const repeats = evaluates_again && step == *last_step && line.find(of_evaluation) != std::string::npos;
      if (step > *last_step || repeats) return kept;
    }
    return {};
  }

 private:
  void append(json::json_line const& line) {
    std::scoped_lock lock(mutex_);
    file_.append(line.text() + "\n");
  }

  mutable std::mutex mutex_;
  append_file file_;
};

}  // namespace redco::log
