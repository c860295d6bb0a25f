#pragma once

#include <redco/workdir/disk_limits.hpp>

#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/diag/outcomes.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// A scope in which the ranks of a group wait for each other at least until the deadline of disks.
class disk_deadline {
 public:
  disk_deadline(comm::group& world, workdir::disk_limits const& limits) : world_(world), before_(world.deadline()) {
    world_.set_deadline(std::max(before_, limits.deadline));
  }
  disk_deadline(disk_deadline const&) = delete;
  disk_deadline& operator=(disk_deadline const&) = delete;
  ~disk_deadline() { world_.set_deadline(before_); }

 private:
  comm::group& world_;
  std::chrono::milliseconds before_;
};

/// Returns "3.1 of 84 GB", with the unit of `all` bytes.
inline std::string progress_text(std::uint64_t done, std::uint64_t all) {
  static constexpr std::array<char const*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
  double scale = 1;
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && static_cast<double>(all) >= 1000 * scale; ++unit) scale *= 1000;
  auto const number = [&](std::uint64_t bytes) {
    double const value = static_cast<double>(bytes) / scale;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit > 0 && value < 10 ? "%.1f" : "%.0f", value);
    return std::string(text.data());
  };
  return number(done) + " of " + number(all) + " " + units[unit];
}

/// A phase in which each rank reads or writes its own files. Ranks report to each other how many
/// bytes they have done. A wait therefore ends with an error only if a rank does nothing until the
/// deadline, not if the phase is long. Between the constructor and finish(), the group makes no
/// other call. All ranks must call the constructor and finish().
class disk_phase {
 public:
  /// Begins a phase. `task` is its name in messages, such as "saving step 400". `bytes` is the
  /// number of bytes that this rank will read or write.
  disk_phase(comm::group& world, std::string task, std::uint64_t bytes, workdir::disk_limits const& limits)
      : world_(world),
        task_(std::move(task)),
        label_(task_ + limit_text),
        all_(bytes),
        between_(limits.between),
        next_(clock::now() + between_),
        deadline_(world, limits) {}

  /// Records that this rank has read or written `bytes` more bytes. Reports to the other ranks
  /// from time to time.
  void add(std::uint64_t bytes) {
    done_ += bytes;
    if (clock::now() >= next_) report(false);
  }

  /// Records `bytes` bytes of a message from one rank to another. Both ranks call it after each
  /// message of an exchange, so that they report after the same messages.
  void add_message(std::uint64_t bytes) {
    done_ += bytes;
    if (++messages_ % messages_between == 0) report(false);
  }

  /// Waits until all ranks have called finish().
  void finish() {
    while (!report(true)) {
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  /// Messages of at most 16 MiB: the ranks report after each GiB.
  static constexpr std::int64_t messages_between = 64;
  static constexpr char const* limit_text = "; --disk-deadline limits the time without progress";

  /// Exchanges the progress of all ranks. Returns true if all have finished.
  bool report(bool finished) {
    comm::collective_label const label(label_);
    at::Tensor const own = at::tensor(
        {static_cast<std::int64_t>(done_), static_cast<std::int64_t>(all_), std::int64_t{finished}}, at::kLong);
    at::Tensor const table = world_.all_gather(own, 0);
    auto const* const facts = table.const_data_ptr<std::int64_t>();
    std::uint64_t done = 0, all = 0;
    bool over = true;
    int slowest = -1;
    double least = 0;
    for (int rank = 0; rank < world_.size(); ++rank) {
      auto const* const of_rank = facts + std::ptrdiff_t{3} * rank;
      done += static_cast<std::uint64_t>(of_rank[0]);
      all += static_cast<std::uint64_t>(of_rank[1]);
      double const part = of_rank[1] > 0 ? static_cast<double>(of_rank[0]) / static_cast<double>(of_rank[1]) : 1;
      if (of_rank[2] != 0) continue;
      over = false;
      if (slowest >= 0 && part >= least) continue;
      slowest = rank;
      least = part;
    }
    label_ = task_ + ": " + progress_text(done, all);
    if (!over) label_ += ", rank " + std::to_string(slowest) + comm::on_host_of_rank(slowest);
    label_ += limit_text;
    next_ = clock::now() + between_;
    return over;
  }

  comm::group& world_;
  std::string task_, label_;
  std::uint64_t done_ = 0, all_;
  std::int64_t messages_ = 0;
  std::chrono::milliseconds between_;
  clock::time_point next_;
  disk_deadline deadline_;
};

/// Runs `work(phase)` on every rank as attempt_together() does, for work that reads or writes
/// `bytes` bytes of files on this rank. `work` calls phase.add() after each piece, but no
/// collective.
template <class Work>
diag::outcomes attempt_on_disk(comm::group& world, std::string task, std::uint64_t bytes,
                               workdir::disk_limits const& limits, Work work) {
  disk_phase phase(world, std::move(task), bytes, limits);
  std::string const outcome = diag::outcome_text([&] { return work(phase); });
  phase.finish();
  return diag::outcomes_of(comm::gather_texts(world, outcome));
}

/// Runs `work(phase)` as attempt_on_disk() does, and returns the texts of all ranks. If it throws
/// on one rank, every rank throws that rank's error.
template <class Work>
std::vector<std::string> on_disk(comm::group& world, std::string task, std::uint64_t bytes,
                                 workdir::disk_limits const& limits, Work work) {
  diag::outcomes result = attempt_on_disk(world, std::move(task), bytes, limits, work);
  if (result.failure) throw *result.failure;
  return std::move(result.texts);
}

}  // namespace redco::ckpt::detail
