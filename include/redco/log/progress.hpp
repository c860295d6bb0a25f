#pragma once

#include <redco/log/console.hpp>
#include <redco/log/text.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace redco::log {

/// A phase of a run with its own progress bar: an epoch or an evaluation.
struct progress_phase {
  std::string label = {};  ///< Label at the beginning of the progress bar, such as "epoch 1/3"
  /// Number of steps of the phase. If it is 0 (unknown), the display has neither bar nor remaining
  /// time.
  std::int64_t total = 0;
  std::int64_t first = 0;  ///< Number of steps of the phase that were done before a resume
  /// Number of steps of the run that follow this phase, to compute the remaining time of the run.
  std::int64_t run_left = 0;
  /// Unit of the member `items` of `progress_point`, for rates such as tok/s.
  std::string unit = "tok";
};

/// A state of a phase after a step, for the progress display. Absent values are not shown, nor are
/// zero `items`.
struct progress_point {
  std::int64_t done = 0;  ///< Number of steps of the phase that are done
  std::optional<double> loss = {};
  std::optional<double> learning_rate = {};
  std::optional<double> grad_norm = {};
  std::int64_t items = 0;  ///< Number of tokens (or examples) computed since the phase began
  std::string note = {};   ///< Further text for the progress display, such as "accuracy 0.93"
};

/// A set of options that limit how often a progress display writes.
struct progress_options {
  /// Maximum number of redraws of the bar per second on a terminal.
  double redraws_per_second = 10;
  /// Minimum seconds between two progress lines if the output is no terminal; 0: time causes no
  /// line.
  double line_seconds = 10;
  /// Number of steps between two progress lines if the output is no terminal; 0: steps cause no
  /// line.
  std::int64_t line_steps = 0;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// A display of the progress of a run. Shows a bar on a terminal, and plain lines on other outputs:
///
///   epoch 1/3 ▕███▏ 420/1000 loss 2.31 lr 3.0e-4 gn 0.80 | 1.2k tok/s | 12.4 it/s
///                                                        | ETA 00:46 (run 02:10)
///
/// The first and the last point of a phase are always shown. Rates are averages over the last
/// seconds; the last line of a phase has averages over the phase. Only rank 0 uses this class, from
/// one thread. Other threads may print on the console concurrently.
class progress {
 public:
  explicit progress(console& where, progress_options options = {}) : console_(&where), options_(std::move(options)) {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { finish(); }

  /// Ends the current phase (an epoch or an evaluation) and begins the given one.
  void start(progress_phase phase) {
    finish();
    phase_ = std::move(phase);
    begun_ = options_.now();
    samples_.assign(1, {begun_, phase_.first, 0});
    open_ = true;
    shown_ = false;
    last_ = {};
    last_.done = phase_.first;
  }

  /// Updates the display with the state after a step. The call is cheap if the display is not yet
  /// due to be redrawn.
  void update(progress_point point) {
    if (!open_) return;
    auto const now = options_.now();
    last_ = std::move(point);
    bool const complete = phase_.total > 0 && last_.done >= phase_.total;
    if (complete || !shown_ || due(now)) show(now, complete);
    if (seconds(samples_.back().time, now) >= sample_seconds) {
      samples_.push_back({now, last_.done, last_.items});
      if (samples_.size() > sample_count) samples_.pop_front();
    }
  }

  /// Ends the current phase, whether all its steps are done or not. Its last state stays on the
  /// screen as an ordinary line.
  void finish() {
    if (!open_) return;
    open_ = false;
    if (last_.done > phase_.first && !ended_shown()) show(options_.now(), true);
    console_->keep_status();
  }

 private:
  struct sample {
    std::chrono::steady_clock::time_point time;
    std::int64_t done;
    std::int64_t items;
  };
  static constexpr double sample_seconds = 0.25;
  static constexpr std::size_t sample_count = 32;

  static double seconds(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }

  bool ended_shown() const { return shown_ && shown_end_ && shown_done_ == last_.done; }

  bool due(std::chrono::steady_clock::time_point now) const {
    double const passed = seconds(shown_at_, now);
    if (console_->terminal()) return passed * options_.redraws_per_second >= 1;
    bool const by_time = options_.line_seconds > 0 && passed >= options_.line_seconds;
    std::int64_t const every = options_.line_steps;
    return by_time || (every > 0 && last_.done / every > shown_done_ / every);
  }

  void show(std::chrono::steady_clock::time_point now, bool end) {
    shown_ = true;
    shown_at_ = now;
    shown_done_ = last_.done;
    shown_end_ = end;
    if (console_->terminal()) {
      console_->status(line(now, end));
    } else {
      console_->print(label() + words(now, end, 0));
    }
  }

  // Returns the line with as much as fits: drops first the ETA of the run, then the rates, then the
  // bar.
  std::string line(std::chrono::steady_clock::time_point now, bool end) const {
    constexpr std::size_t bar_frame = 3, bar_least = 6, bar_most = 30;
    auto const width = static_cast<std::size_t>(console_->width());
    std::string text;
    for (int less = 0; less < 4; ++less) {
      text = words(now, end, less);
      std::size_t const used = columns(label() + text);
      if (phase_.total <= 0 && used <= width) break;
      if (phase_.total > 0 && used + bar_frame + bar_least <= width) {
        return label() + bar(std::min(width - used - bar_frame, bar_most)) + " " + text;
      }
    }
    return label() + text;
  }

  std::string label() const { return phase_.label.empty() ? "" : phase_.label + " "; }

  std::string bar(std::size_t width) const {
    double const part = std::clamp(static_cast<double>(last_.done) / static_cast<double>(phase_.total), 0.0, 1.0);
    auto const eighths = static_cast<std::size_t>(part * static_cast<double>(8 * width));
    std::string text;
    if (!console_->utf8()) {
      text.assign(eighths / 8, '#');
      return "[" + text + std::string(width - text.size(), ' ') + "]";
    }
    constexpr char const* blocks[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    for (std::size_t full = 0; full < eighths / 8; ++full) text += "█";
    text += blocks[eighths % 8];
    std::size_t const filled = eighths / 8 + (eighths % 8 != 0);
    return "▕" + text + std::string(width - filled, ' ') + "▏";
  }

  std::string words(std::chrono::steady_clock::time_point now, bool end, int less) const {
    std::string text = std::to_string(last_.done);
    if (phase_.total > 0) text += "/" + std::to_string(phase_.total);
    if (last_.loss) text += " loss " + short_text(*last_.loss, 3);
    if (last_.learning_rate) text += " lr " + scientific_text(*last_.learning_rate);
    if (last_.grad_norm) text += " gn " + short_text(*last_.grad_norm, 2);
    if (!last_.note.empty()) text += " " + last_.note;
    sample const from = end ? sample{begun_, phase_.first, 0} : samples_.front();
    double const time = seconds(from.time, now);
    auto const steps = static_cast<double>(last_.done - from.done);
    auto const items = static_cast<double>(last_.items - from.items);
    if (!(time > 0) || !(steps > 0)) return text;
    if (less < 3 && items > 0) text += " | " + count_text(items / time) + " " + phase_.unit + "/s";
    if (less < 2) {
      text += " | " + (steps >= time ? short_text(steps / time, 3) + " it/s" : short_text(time / steps, 3) + " s/it");
    }
    if (end) return text + " | took " + clock_text(time);
    if (phase_.total <= 0) return text;
    auto const left = static_cast<double>(phase_.total - last_.done);
    text += " | ETA " + clock_text(left * time / steps);
    if (less < 1 && phase_.run_left > 0) {
      text += " (run " + clock_text((left + static_cast<double>(phase_.run_left)) * time / steps) + ")";
    }
    return text;
  }

  console* console_;
  progress_options options_;
  progress_phase phase_;
  progress_point last_;
  std::deque<sample> samples_;
  std::chrono::steady_clock::time_point begun_{};
  std::chrono::steady_clock::time_point shown_at_{};
  std::int64_t shown_done_ = 0;
  bool open_ = false;
  bool shown_ = false;
  bool shown_end_ = false;
};

}  // namespace redco::log
