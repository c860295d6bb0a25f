#pragma once

#include <redco/run/step.hpp>

#include <redco/run/loss_totals.hpp>
#include <redco/run/step_work.hpp>
#include <redco/nn/gradient_watch.hpp>
#include <redco/nn/joint_calls.hpp>
#include <redco/nn/load_balance.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/shares.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace redco::run {

REDCO_INLINE step_executor::step_executor(network_state& state, rank_context& rank, schedule::step_facts const& facts,
                                          std::int64_t bucket, step_watch* watch)
    : state_(state), rank_(rank), facts_(facts), watch_(watch), sums_(state.store.regions().sums()) {
  facts_.gathers_values = state_.store.shares_values();
  facts_.exchanges_rows = state.network().exchanges_rows();
  if (state_.network().is_stage()) stage_.emplace(state_, rank_, facts_);
  if (stage_ && facts_.in_one)
    throw error(
        exit_code::usage,
        "a train_step with pipeline stages: a step of the program's own cannot be cut into stages; leave it out, "
        "or give --n-pipeline-stages 1");
  if (stage_ && facts_.several_terms)
    throw error(
        exit_code::usage,
        "a loss of several terms with pipeline stages: only the last stage knows their counts; return one term, "
        "or give --n-pipeline-stages 1");
  facts_.regions = std::distance(sums_.begin(), sums_.end());
  bool const sums_rounds = state_.store.has_cut_gradients();
  if (facts_.in_one && sums_rounds && facts_.exchanges_rows)
    throw error(exit_code::usage,
                "--zero " + std::to_string(state_.store.zero().level) +
                    " and a step of the program's own with ranks along ep: a rank without a loss left would miss the "
                    "other ranks' exchanges of experts' rows; give --zero 1");
  // Only the program knows the number of losses of its own step.
  facts_.sums_rounds = sums_rounds && !facts_.in_one;
  // The order in which a round sums its buckets does not follow the regions. A network without
  // trained parameters has one sum, too, in which replicas take part in the calls of others.
  if (sums_rounds) facts_.regions = 1;
  facts_.exchanges_first = !state_.store.shares().empty();
  facts_.meets_replicas = state.network().meets_replicas();
  // A rank with fewer micro-batches adds gradients after its own last backward.
  if (facts_.exchanges_rows && (facts_.in_one || facts_.rounds != facts_.full_rounds)) bucket = 0;
  if (facts_.several_terms && facts_.rounds > 1)
    throw error(
        exit_code::usage,
        "a loss of several terms needs its counts before backward: take one micro-batch per step (micro_batch 0)");
  state_.store.gradients().zero_();
  if (sums_rounds) shares_.emplace(state_.network(), rank_);
  else if (bucket > 0) buckets_.emplace(state_.network(), rank_, bucket);
  if (facts_.gathers_values && facts_.in_one) calls_.emplace(state_.store, rank_, &*shares_);
  else if (facts_.gathers_values)
    values_.emplace(state_.store, rank_, shares_ ? &*shares_ : nullptr, state_.store.zero().keep);
}

REDCO_INLINE step_result step_executor::run(step_work& work, step_position const& at) {
  work_ = &work;
  at_ = at;
  for (schedule::step_op const& one : schedule::step_of(facts_)) execute(one);
  return result_;
}

REDCO_INLINE step_result step_executor::finish(step_position const& at) {
  at_ = at;
  for (schedule::step_op const& one : schedule::step_of({.micro_batches = 0,
                                      .regions = facts_.regions,
                                      .exchanges_rows = facts_.exchanges_rows,
                                      .several_terms = facts_.several_terms,
                                      .in_one = true}))
    execute(one);
  return result_;
}

REDCO_INLINE void step_executor::execute(schedule::step_op const& one) {
  using schedule::op;
  switch (one.operation) {
    case schedule::op::forward: forward(one); break;
    case schedule::op::gather_forward: values_->begin_forward(blocks_of(one)); break;
    case schedule::op::gather_backward: values_->begin_backward(blocks_of(one)); break;
    case schedule::op::total_counts: total_counts(); break;
    case schedule::op::backward:
      last_ = ++backwards_ == facts_.micro_batches * facts_.chunks_per_stage;
      user_call("backward", at_.step, [&] { backward(one); });
      break;
    case schedule::op::compute: work_->compute(*this, round_of(one)); break;
    case schedule::op::end_round: round_.finish(); break;
    case schedule::op::sit_out: round_of(one).sit_out(); break;
    case schedule::op::share_statistics: share_statistics(); break;
    case schedule::op::join_calls:
      nn::join_calls(state_.network(), pass_without_examples(), [this] { total_counts(); });
      break;
    case schedule::op::join_forward: join_forward(one); break;
    case schedule::op::join_backward: join_backward(one); break;
    case schedule::op::reduce: reduce(one); break;
    case schedule::op::total: total(); break;
    case schedule::op::update: update(); break;
    case schedule::op::send: stage_->send_to_neighbour(one); break;
    case schedule::op::receive:
      // Hidden states arrive when forward calls the network, because their shape follows from the
      // call.
      if (one.other > one.chunk) stage_->receive_gradients(one);
      break;
    case schedule::op::exchange_shared: exchange_shared(); break;
  }
  if (watch_ != nullptr) watch_->executed(one);
}

REDCO_INLINE void step_executor::forward(schedule::step_op const& one) {
  comm::replica_round const& round = round_of(one);
  terms loss;
  if (stage_) loss = stage_->forward(one, [&] { return work_->loss(one.micro, round, &*stage_); });
  else loss = work_->loss(one.micro, round, nullptr);
  if (facts_.joins_rounds()) nn::announce_return(rank_);
  if (!stage_) {
    loss_ = std::move(loss);
    return count(loss_);
  }
  if (!stage_->is_last_chunk()) return;
  count(loss);
  losses_[one.micro] = loss;
}

/// Returns the round (micro-batches that all replicas compute at once) of an operation. If layers
/// sum over the replicas, a replica without a micro-batch in the round takes part with zeros.
REDCO_INLINE comm::replica_round step_executor::round_of(schedule::step_op const& one) {
  round_ = {&rank_.group(shape::batch_axes), facts_.meets_replicas && one.micro >= facts_.full_rounds};
  return round_;
}

REDCO_INLINE void step_executor::count(terms const& loss) {
  if (watch_ != nullptr) watch_->computed(loss);
  totals_.add(loss);
}

/// Sums the count of each loss term over all replicas, once in a step. A replica without a loss
/// takes part with zeros.
REDCO_INLINE void step_executor::total_counts() {
  if (!counts_.empty()) return;
  if (calls_) calls_->begin_counts();
  counts_ = counts_of_replicas(loss_, {&rank_.group(shape::batch_axes), round_.gaps});
}

REDCO_INLINE void step_executor::differentiate(terms const& loss) {
  if (facts_.several_terms && !counts_.empty())
    throw error(exit_code::usage,
                "a second loss of several terms in a step of the program's own: backward of the first one has divided "
                "each term by its count over all ranks; add the sums and counts of both losses, and add one loss");
  loss_ = loss;
  if (facts_.several_terms) {
    if (facts_.exchanges_rows) nn::announce_counts(rank_);
    total_counts();
  }
  if (calls_) calls_->begin_backward();
  else if (shares_) shares_->announce();
  backward({schedule::op::backward});
  if (calls_) calls_->end();
  else if (shares_) shares_->end_round();
}

/// Runs backward of the current loss. In the last backward of the step, buckets of gradients are
/// sent as backward completes them, unless another gradient watch is active on the network.
REDCO_INLINE void step_executor::backward(schedule::step_op const& one) {
  terms loss = std::exchange(loss_, {});
  // The model's last chunk runs the first backward of a micro-batch.
  if (auto in_flight = losses_.extract(one.micro)) loss = std::move(in_flight.mapped());
  std::optional<nn::gradient_watch> ends;
  bool const waits_for_exchange = stage_ && facts_.exchanges_first;
  if (shares_) ends.emplace(state_.network(), [this](parameter which) { shares_->end(which); });
  else if (buckets_ && last_ && !waits_for_exchange && !nn::gradient_watch::on(state_.network()))
    ends.emplace(state_.network(), [this](parameter which) { buckets_->end(which); });
  if (facts_.exchanges_rows) nn::announce_backward(rank_);
  if (!stage_) return add_gradient(state_, sum_to_differentiate(loss, counts_));
  stage_->backward(one, loss.all.empty() ? at::Tensor() : sum_to_differentiate(loss, counts_));
}

/// Returns the pass in which this rank's experts compute the rows of ranks that have more
/// micro-batches in this step.
REDCO_INLINE pass step_executor::pass_without_examples() const {
  pass const of_work = work_ != nullptr ? work_->pass_without_examples() : pass();
  return of_work.rank != nullptr ? of_work : nn::training_pass(rank_);
}

REDCO_INLINE void step_executor::join_forward(schedule::step_op const& one) {
  joined_[{one.chunk, one.micro}] = nn::join_forward(state_.network(), pass_without_examples(), one.chunk);
}

REDCO_INLINE void step_executor::join_backward(schedule::step_op const& one) {
  std::optional<nn::gradient_watch> ends;
  if (shares_) ends.emplace(state_.network(), [this](parameter which) { shares_->end(which); });
  nn::join_backward(rank_, joined_.extract({one.chunk, one.micro}).mapped());
}

/// Copies batch norm's running statistics from replica 0, which is in every round, to all.
REDCO_INLINE void step_executor::share_statistics() const {
  for (nn::stored_parameter const& p : state_.network().statistics()) {
    rank_.group(shape::batch_axes).broadcast(p.master, 0);
    if (!p.value.is_alias_of(p.master)) p.value.copy_(p.master);
  }
}

/// Sums one range of the flat gradient over its mesh axes; if the replicas keep shares, only into
/// this rank's share. With buckets, the first call sends all remaining buckets of all ranges,
/// because the order of buckets does not follow the ranges. If the sums are those of each loss that
/// the program adds, takes part in those of the other replicas.
REDCO_INLINE void step_executor::reduce(schedule::step_op const& one) {
  if (calls_) return calls_->join();
  if (values_) values_->end();
  if (shares_) return one.micro < 0 ? shares_->join() : shares_->end_round();
  if (buckets_) return buckets_->send_all();
  shard::region const& sum = sums_.begin()[one.region];
  if (rank_.group(sum.summed_over).size() == 1) return;
  comm::collective_label const label("gradients");
  for (shard::shared_range const& range : state_.store.shares())
    if (sum.begin <= range.begin && range.end <= sum.end)
      rank_.group(range.over).reduce_scatter_in_place(state_.store.gradients().narrow(0, range.begin, range.size()));
  if (!state_.store.shares().empty()) return;
  rank_.group(sum.summed_over).all_reduce(state_.store.gradients().narrow(0, sum.begin, sum.size()));
}

/// Returns the blocks that an operation computes, counted over all outermost `repeat`s.
REDCO_INLINE shape::block_range step_executor::blocks_of(schedule::step_op const& one) const {
  if (stage_) return state_.network().blocks().cuts().blocks(one.chunk);
  return shared_blocks(state_.store);
}

REDCO_INLINE void step_executor::exchange_shared() {
  if (buckets_ && !facts_.exchanges_first) buckets_->wait();
  stage_->exchange_shared();
}

/// Sums the gradients of this rank's shares over the ranks that keep equal shares. These are the
/// same ranks for all shares, because a group of replicas has all ranks along ep.
REDCO_INLINE void step_executor::sum_copied_shares() {
  nn::parameter_store const& store = state_.store;
  shape::axes const copied_over = store.shares().empty() ? shape::axes() : store.shares().front().copied_over;
  if (copied_over.empty()) return;
  comm::collective_label const label("gradients");
  comm::group& copies = rank_.group(copied_over);
  if (store.has_cut_gradients()) return copies.all_reduce(store.gradients());
  for (shard::shared_range const& one : store.shares())
    if (one.begin < store.regions().trained())
      copies.all_reduce(store.gradients().narrow(0, one.share_begin(rank_.coordinate(one.over)), one.share()));
}

REDCO_INLINE void step_executor::total() {
  if (values_) {
    // A stage without trained parameters has no sum before this operation.
    values_->end();
    values_->drop_all();
  }
  calls_.reset();
  if (work_ != nullptr) totals_.add_tokens(work_->tokens());
  result_.stop = totals_.reduce(rank_, at_.stop);
  result_.tokens = totals_.tokens();
  result_.loss = totals_.loss();
  result_.weight = totals_.weight();
  if (facts_.several_terms) result_.terms = totals_.by_name();
}

REDCO_INLINE void step_executor::update() {
  auto const check_finite = [&](char const* quantity, double value) {
    if (std::isfinite(value)) return;
    throw error(exit_code::not_finite, "step " + std::to_string(at_.step + 1) + ": the " + quantity + " is " +
                                           (std::isnan(value) ? "NaN" : "infinite") +
                                           "; nothing was updated or saved. Lower the learning rate, clip gradients "
                                           "(clip_norm) or look at this step's examples");
  };
  if (buckets_) buckets_->wait();
  if (shares_) shares_->wait();
  sum_copied_shares();
  bool const counted = result_.weight > 0;
  if (counted) check_finite("loss", result_.loss);
  update::any_optimizer const& optimizer = state_.optimizer;
  result_.lr = optimizer.learning_rate_at(at_.step, at_.run_steps);
  if (!(result_.lr >= 0 && std::isfinite(result_.lr)))
    throw error(exit_code::usage, "step " + std::to_string(at_.step + 1) + ": the schedule gives the learning rate " +
                                      std::to_string(result_.lr) + ": give a finite number from 0 on");
  if (!counted) return;
  double const divisor = facts_.several_terms ? 1 : result_.weight;
  if (state_.noise.deviation > 0)
    state_.store.add_noise(state_.noise.deviation, rank_.rank, state_.noise.seed, static_cast<std::uint64_t>(at_.step));
  // If the replicas keep shares, each of them has the squares of its own gradients only.
  comm::group& over = rank_.group(state_.store.shares().empty() ? shape::model_axes : shape::every_axis);
  at::Tensor const& gradients = state_.store.gradients();
  result_.grad_norm =
      optimizer.clip_kind == optimizer::norm_kind::inf
          ? update::gradient_inf_norm(update::largest_magnitude(gradients, state_.norm_ranges), over, divisor)
          : update::gradient_norm(update::squared_norm(gradients, state_.norm_ranges), over, divisor);
  check_finite("gradient norm", result_.grad_norm);
  if (watch_ != nullptr) watch_->reduced(state_, divisor);
  ++state_.updates;
  double const scale = update::clip_factor(result_.grad_norm, optimizer.clip_norm) / divisor;
  for (update::segment& s : state_.segments)
    if (s.param.numel() > 0) optimizer.update(s, result_.lr, state_.updates, scale, &rank_);
  nn::update_biases(state_.network().balances(),
                    rank_.group(rank_.mesh.cp > 1 ? shape::token_axes : shape::batch_axes));
  state_.gather_values(rank_);
  if (watch_ != nullptr) watch_->updated(state_);
}

}  // namespace redco::run
