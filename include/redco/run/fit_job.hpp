#pragma once

#include <redco/run/prediction.hpp>
#include <redco/run/training_step.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/data/batches.hpp>
#include <redco/data/prepared_batch.hpp>
#include <redco/data/sampler.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/run_position.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace redco::run {

/// The order in which one rank reads the examples of an epoch or an evaluation, and the settings
/// for collating them into micro-batches.
struct batch_order {
  data::sampler order;
  data::batches all;
  std::int64_t epoch = 0;
  data::collate_settings collate = {};
  /// Threads that make the rank's micro-batches in advance; none by default.
  data::collate_threads ahead = {.depth = 0};
};

/// Returns a function that each of a rank's collating threads calls first. It makes error messages
/// name the rank, and counts the thread's memory as memory of the rank.
inline std::function<void()> prefetch_scope(rank_context const& rank) {
  return [memory = rank.memory, number = rank.rank] {
    diag::run_position::here() = {number, -1, "collate"};
    tensors::memory_counter::count_thread(memory);
  };
}

/// Rethrows the exception in flight as `error`, with the indices of a micro-batch's examples in the
/// message. The exit code is 70, or the code of an `error`.
[[noreturn]] inline void rethrow_with_examples(data::micro_batch const& of) {
  constexpr std::size_t most = 8;
  std::size_t const count = of.examples.size();
  std::string names = count == 1 ? "example " : "examples ";
  for (std::size_t i = 0; i < std::min(count, most); ++i) names += (i > 0 ? ", " : "") + std::to_string(of.examples[i]);
  if (count > most) names += " and " + std::to_string(count - most) + " more";
  try {
    throw;
  } catch (error const& e) {
    throw error(e.code(), names + ": " + e.what());
  } catch (std::exception const& e) {
    throw error(exit_code::internal, names + ": " + tensors::words_of(e));
  }
}

/// An interface to the micro-batches of one rank: collates them one by one, and calls the
/// pipeline's functions on them. Training code that is compiled once for all programs calls this
/// interface. `pipeline_batches` implements it for one program's types of examples, batches,
/// network and predictions.
class computed_batches {
 public:
  computed_batches() = default;
  computed_batches(computed_batches const&) = delete;
  computed_batches& operator=(computed_batches const&) = delete;
  virtual ~computed_batches() = default;

  /// Returns the number of steps (global batches), which is equal on all ranks.
  virtual std::int64_t steps() const = 0;
  /// Collates the next micro-batch and returns its step and its examples' indices; null after the
  /// last one. The pointer is valid until the next call.
  virtual data::micro_batch const* next() = 0;

  /// Returns the number of token ids of the current micro-batch that are not padding. Returns 0 if
  /// its batch has no token ids.
  virtual std::int64_t tokens() const = 0;

  /// `keep` keeps the current micro-batch. `select` makes the kept micro-batch with index `index`
  /// the current one. `forget` drops all kept micro-batches.
  virtual void keep() = 0;
  virtual void select(std::size_t index) = 0;
  virtual void forget() = 0;

  /// Calls `f` for each tensor of the current micro-batch. `f` may assign another tensor with equal
  /// values, such as a copy at a fixed address.
  virtual void each_tensor(tensors::function_ref<void(at::Tensor&)> f) = 0;

  /// Runs forward and the user's loss function on the current micro-batch and returns the loss.
  /// Does not run backward.
  virtual terms loss(pass const& in) = 0;
  /// Returns true if the user's function `train_step` replaces loss and backward of each
  /// micro-batch.
  virtual bool own_step() const = 0;
  /// Calls the user's function `train_step` on the current micro-batch. Requires that own_step() is
  /// true.
  virtual void take_step(training_step& step, pass const& in) = 0;
  /// Calls the pipeline's predict on the current micro-batch and stores one result per example in a
  /// table by example index.
  virtual void predict(pass const& in) = 0;

  /// Returns this rank's predictions as bytes, to be sent to other processes. Throws `error` with
  /// exit code 70 if cereal cannot serialize the type of the predictions.
  virtual std::string predicted() const = 0;
  /// Stores predictions that a rank of another process has computed. `bytes`: result of that rank's
  /// predicted().
  virtual void take_predicted(std::string const& bytes) = 0;
};

/// An interface to a fit on one rank: the operations that need the types of the program's examples
/// and functions. Training code that is compiled once for all programs calls this interface;
/// `pipeline_job` implements it.
class fit_job {
 public:
  fit_job() = default;
  fit_job(fit_job const&) = delete;
  fit_job& operator=(fit_job const&) = delete;
  virtual ~fit_job() = default;

  /// Returns true if the pipeline's loss is `terms`, which may have several terms, each with its
  /// own count.
  virtual bool several_terms() const = 0;
  /// Returns the unit of the reported throughput, such as "tokens", derived from the type of the
  /// batch.
  virtual std::string unit() const = 0;

  /// Starts an epoch and returns its number of examples; training() then returns the batches of
  /// this epoch.
  virtual std::int64_t begin_epoch(std::int64_t epoch) = 0;
  /// Returns the digest of the epoch's first and last example if the user's function
  /// `train_of_epoch` made the examples; else an empty text.
  virtual std::string digest_of_epoch() const = 0;
  /// Returns the digests of the epoch's training examples and of the evaluation examples for the
  /// manifest, by the names that manifest::digests has. Adds to `notes` a sentence about each data
  /// set of which not all is compared. Reads examples. Called by rank 0 only.
  virtual std::map<std::string, std::string> digests(std::vector<std::string>& notes) = 0;
  /// Returns this rank's micro-batches of the current epoch's training examples.
  virtual std::unique_ptr<computed_batches> training(batch_order const& how) = 0;
  /// Returns this rank's micro-batches of the evaluation examples.
  virtual std::unique_ptr<computed_batches> evaluation(batch_order const& how) = 0;

  /// Makes a table with room for the predictions of this many examples, which all ranks of the
  /// process then fill. Called by one rank of each process.
  virtual void begin_predictions(std::int64_t examples) = 0;
  /// Calls the user's function `metrics` on the predictions and returns its result. Called by rank
  /// 0 only.
  virtual options::metric_map metrics() const = 0;
  /// Returns the evaluation examples with their predictions as JSON, for outputs_epoch<i>.json.
  /// Called by rank 0 only.
  virtual shown outputs() const = 0;
};

}  // namespace redco::run
