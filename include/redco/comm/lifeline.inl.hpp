#pragma once

#include <redco/comm/lifeline.hpp>

#include <redco/comm/detail/waiting_room.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace redco::comm {

REDCO_INLINE bool lifeline::fail(int rank, exit_code code, std::string_view message) noexcept {
  try {
    return fail(error(code, rank, std::string(message)));
  } catch (std::bad_alloc const&) {
    return fail(exhausted_);
  }
}

REDCO_INLINE bool lifeline::fail(int rank, error const& failure) noexcept {
  return failure.names_rank() ? fail(failure) : fail(rank, failure.code(), failure.what());
}

REDCO_INLINE error lifeline::cause() const {
  std::lock_guard const lock(mutex_);
  return cause_.value();
}

REDCO_INLINE void lifeline::end(int rank) {
  ended_[static_cast<std::size_t>(rank)].store(true);
  any_ended_.store(true);
  wake();
}

REDCO_INLINE lifeline::long_wait::long_wait(lifeline& line, int rank, std::string const& where) : line_(line) {
  std::lock_guard const lock(line_.mutex_);
  number_ = line_.waits_begun_++;
  line_.waits_.emplace(number_, "rank " + std::to_string(rank) + " waits " + detail::step_text() + where);
}

REDCO_INLINE lifeline::long_wait::~long_wait() {
  std::lock_guard const lock(line_.mutex_);
  line_.waits_.erase(number_);
}

REDCO_INLINE std::string lifeline::longest_wait() const {
  std::lock_guard const lock(mutex_);
  return waits_.empty() ? "" : waits_.begin()->second;
}

REDCO_INLINE void lifeline::attach(std::shared_ptr<detail::waiting_room> room) {
  std::lock_guard const lock(mutex_);
  rooms_.push_back(std::move(room));
}

REDCO_INLINE bool lifeline::fail(error const& named) noexcept {
  {
    std::lock_guard const lock(mutex_);
    if (failed_.load()) return false;
    cause_ = named;
    failed_.store(true);
  }
  wake();
  return true;
}

REDCO_INLINE void lifeline::wake() {
  std::lock_guard const lock(mutex_);
  for (auto const& room : rooms_) room->wake();
}

}  // namespace redco::comm
