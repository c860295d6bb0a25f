#pragma once

#include <redco/data/batches.hpp>
#include <redco/data/prepared_batch.hpp>
#include <redco/data/sampler.hpp>

#include <cstdint>
#include <functional>

namespace redco::run {

/// The order of the examples in one run through a data set, and the settings for collating them.
struct batch_order {
  sampler order;
  batches all;
  std::int64_t epoch = 0;
  collate_settings collate = {};
  /// Number of micro-batches that a thread collates ahead.
  int prefetch = 0;
  /// Function that the collating thread calls when it starts.
  std::function<void()> on_thread_start = {};
};

}  // namespace redco::run
