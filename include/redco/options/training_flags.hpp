#pragma once

#include <redco/optimizer/adamw.hpp>
#include <redco/meta/fields.hpp>

#include <cstdint>

namespace redco {

/// Command-line options of training, to be nested in a program's options. A program sets its own
/// defaults where it declares the member:
///
///   struct my_options {
///     redco::deployer_options deployer;
///     redco::training_flags training{.max_steps = 300, .lr = 1e-3};
struct training_flags {
  int epochs = 1;
  std::int64_t max_steps = 0, global_batch = 8, micro_batch = 0, warmup = 0;
  double lr = 1e-3, weight_decay = 0.01, clip_norm = 1;

  static constexpr auto fields() {
    using o = training_flags;
    return redco::fields(
        field<"epochs">(&o::epochs, "passes over the examples").at_least(0).in_group("training"),
        field<"max_steps">(&o::max_steps, "largest number of updates; 0: all of the epochs")
            .at_least(0)
            .in_group("training"),
        field<"global_batch">(&o::global_batch, "examples of one update, over all ranks")
            .at_least(1)
            .in_group("training"),
        field<"micro_batch">(&o::micro_batch,
                             "examples that a data-parallel shard computes at once; 0: all of its share")
            .at_least(0)
            .in_group("training"),
        field<"lr">(&o::lr, "peak of the learning rate, which then falls to 0").at_least(0).in_group("training"),
        field<"warmup">(&o::warmup, "updates until the peak").at_least(0).in_group("training"),
        field<"weight_decay">(&o::weight_decay, "weight decay of AdamW").at_least(0).in_group("training"),
        field<"clip_norm">(&o::clip_norm, "largest gradient norm; 0: no clipping").at_least(0).in_group("training"));
  }

  friend bool operator==(training_flags const&, training_flags const&) = default;

  /// Returns AdamW with the learning rates, weight decay and clipping norm of these flags.
  adamw optimizer() const {
    return {.lr = linear_decay{.peak = lr, .warmup = warmup}, .weight_decay = weight_decay, .clip_norm = clip_norm};
  }
};

}  // namespace redco
