#pragma once

#include <redco/run/patient_saves.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/checkpoint_room.hpp>
#include <redco/log/text.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>

namespace redco::run {

REDCO_INLINE bool patient_saves::attempt(bool last, tensors::function_ref<void()> save) {
  auto const began = std::chrono::steady_clock::now();
  for (std::int64_t attempts = 1;; ++attempts) {
    try {
      save();
      failures_ = 0;
      return true;
    } catch (error const& e) {
      if (e.code() != exit_code::io) throw;
      double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (last ? !waits(attempts, seconds) : ++failures_ >= 3) throw;
      if (rank_.rank == 0 && attempts == 1)
        where_.log().warning(std::string("not saved: ") + e.what() +
                             (last ? " The run waits for room for " +
                                         log::short_text(where_.options().save_patience, 2) + " s (--save-patience)."
                                   : ""));
      if (!last) return false;
    }
  }
}

/// Returns true, after a pause, if the last save is to be repeated. `seconds`: time since its first
/// attempt. Rank 0 decides, because the clocks of ranks differ.
REDCO_INLINE bool patient_saves::waits(std::int64_t attempts, double seconds) const {
  double const patience = where_.options().save_patience;
  at::Tensor const goes_on = at::full({1}, seconds < patience, at::kLong);
  rank_.world.broadcast(goes_on, 0);
  if (goes_on.item<std::int64_t>() == 0) return false;
  // Short pauses first, because the room may come from a clean-up that is running already.
  double const pause = std::min({0.1 * static_cast<double>(attempts), 5.0, patience});
  std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  return true;
}

REDCO_INLINE std::int64_t kept_checkpoints(options::fit_settings const& settings, options::run_length const& length) {
  std::int64_t const epochs = *settings.epochs;
  // The number of steps is unknown before the first epoch of a new run.
  std::int64_t const steps = length.steps > 0 ? length.steps : *settings.max_steps;
  std::int64_t kept = 0;
  if (settings.keep_last > 0) {
    kept = settings.keep_last;
  } else {
    if (settings.save_every_steps > 0) kept += steps / settings.save_every_steps;
    if (settings.save_last) kept += epochs;
  }
  if (settings.save_every_epochs > 0) kept += epochs / settings.save_every_epochs;
  if (settings.eval_size > 0) kept += std::ssize(settings.save_argmin) + std::ssize(settings.save_argmax);
  return kept;
}

REDCO_INLINE void check_room(deployer& where, run_state const& state, std::int64_t kept) {
  std::uintmax_t const bytes = state.bytes_to_save(), available = workdir::checkpoint_room::available(where.workdir());
  workdir::checkpoint_room::check_space(where.workdir(), bytes, available);
  auto const there =
      std::ssize(workdir::checkpoint_names::steps_in(where.workdir() / workdir::checkpoint_names::folder));
  if (std::string const few =
          workdir::checkpoint_room::warning(where.workdir(), bytes, std::max<std::int64_t>(0, kept - there), available);
      !few.empty())
    where.log().warning(few);
}

}  // namespace redco::run
