#pragma once

#include <redco/data/batches.hpp>
#include <redco/data/prepared_batch.hpp>
#include <redco/data/sampler.hpp>

#include <cstdint>
#include <functional>

namespace redco::run {

/// The order in which one rank reads the examples of an epoch or an evaluation, and the settings
/// for collating them into micro-batches.
struct batch_order {
  data::sampler order;
  data::batches all;
  std::int64_t epoch = 0;
  data::collate_settings collate = {};
  /// Number of micro-batches that the rank's collating thread makes in advance; 0 for no thread.
  int prefetch = 0;
  /// Function that the collating thread calls first, before its first micro-batch.
  std::function<void()> on_thread_start = {};
};

}  // namespace redco::run
