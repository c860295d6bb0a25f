#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/sequence_part.hpp>

#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace redco::nn {

/// The experts that routers chose in a run. A run on another mesh takes them in place of its own
/// choice if its scores of both are equal up to rounding, which decides such ties otherwise. Ties
/// between groups of experts (routing::group_limited) stay. The ranks of a process may share a
/// record: set pass::routing in all passes of the first run, call replay(), and set it in all
/// passes of the second run.
class routing_record {
 public:
  /// The tokens of one router in one call of the network.
  struct place {
    std::uint32_t router = 0;  ///< Hash of the router's name
    std::uint64_t step = 0;
    std::uint32_t call = 0;     ///< Number of the call in its micro-batch
    std::int64_t sequence = 0;  ///< Index of the first sequence in the step's global batch

    friend auto operator<=>(place const&, place const&) = default;
  };

  /// `compute`: dtype of the runs, from which the largest difference of tied scores follows.
  explicit routing_record(dtype compute);

  /// Ends recording. From now on, agreed() returns recorded experts.
  void replay() { replays_ = true; }

  /// Records `chosen`, int64 [tokens, k], the experts of the tokens of `sequences` sequences from
  /// `first` on, and returns it. A replay returns the recorded experts of a token if their scores
  /// in `rated`, [tokens, experts], are those of the chosen experts up to rounding. For other
  /// tokens, it returns the chosen experts. `part`: the tokens of each sequence that the rank has;
  /// null for all.
  at::Tensor agreed(at::Tensor const& rated, at::Tensor const& chosen, place const& first, std::int64_t sequences,
                    shape::sequence_part const* part = nullptr);

  /// Returns the number of tokens that have got other experts than they chose.
  std::int64_t replaced() const { return replaced_; }
  /// Returns the number of sequences with a record, added up over routers, steps and calls.
  std::int64_t sequences() const { return std::ssize(chosen_); }

 private:
  void take_tied(at::Tensor const& own, at::Tensor const& recorded, at::Tensor const& scores);

  double tolerance_;
  bool replays_ = false;
  std::int64_t replaced_ = 0;
  std::mutex mutex_;
  /// Experts of the tokens of each sequence, [tokens, k]; -1 for tokens without record
  std::map<place, at::Tensor> chosen_;
};

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/routing_record.inl.hpp>
#endif
