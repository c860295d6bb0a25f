#pragma once

#include <redco/data/batches.hpp>
#include <redco/data/prepared_batch.hpp>
#include <redco/data/sampler.hpp>

#include <cstdint>
#include <functional>

namespace redco::run {

/// How the examples of a pass over data follow one another, and what collating needs to know.
struct batch_order {
  sampler order;
  batches all;
  std::int64_t epoch = 0;
  collate_settings collate = {};
  int prefetch = 0;                            ///< micro-batches collated ahead
  std::function<void()> on_thread_start = {};  ///< of the thread that does
};

}  // namespace redco::run
