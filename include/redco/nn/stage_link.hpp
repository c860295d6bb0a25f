#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/layout.hpp>
#include <redco/shape/stage_cuts.hpp>

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::nn {

/// The tensors that one pipeline stage sends to the next: hidden states after a block, and the
/// encoder's states (undefined if no decoder block comes before the cut).
struct stage_tensors {
  at::Tensor hidden, states;
  std::int64_t tokens = 0;  ///< Tokens of one example in the hidden states over all shards
  /// True if each shard has its own part of the hidden states. The encoder's states are equal on
  /// all shards.
  bool is_split = false;
};

/// The declared shapes on one rank of the tensors that pass a cut between two stages.
struct stage_shapes {
  std::vector<std::int64_t> hidden;
  /// Shape of the encoder's states; empty if they do not pass the cut
  std::vector<std::int64_t> states = {};
  std::int64_t tokens = 0;  ///< Tokens of one example in the hidden states over all shards
  bool is_split = false;    ///< True if each shard has its own part of the hidden states
  at::TensorOptions options = {};
};

/// An exception that ends a user's loss function on a pipeline stage without the model's output. It
/// is not derived from std::exception, so that user code does not catch it by mistake.
struct stage_ended {};

/// The connection of a rank's network to the preceding and the next pipeline stage. A pass
/// (settings of a forward call) refers to it. Modules ask it which part of the network runs on this
/// rank: layers before the first block of a chunk and after its last block are skipped. Skipped
/// modules return undefined tensors.
class stage_link {
 public:
  explicit stage_link(shape::stage_cuts const& cuts) : cuts_(cuts) {}
  stage_link(stage_link const&) = delete;
  stage_link& operator=(stage_link const&) = delete;
  virtual ~stage_link() = default;

  /// Returns the index of the chunk (consecutive blocks) that the current call runs.
  int chunk() const { return chunk_; }
  bool has_several_chunks() const { return cuts_.size() > cuts_.stages(); }
  bool is_last_chunk() const { return chunk_ + 1 == cuts_.size(); }
  /// Returns the stage that runs the chunk before or after the current one.
  int stage_before() const { return (chunk_ - 1) % cuts_.stages(); }
  int stage_after() const { return (chunk_ + 1) % cuts_.stages(); }
  /// Returns the blocks of the current chunk, counted over all outermost `repeat`s.
  shape::block_range blocks() const { return cuts_.blocks(chunk_); }

  /// Returns true while a call of the network has not reached this stage's part, or has left it.
  bool is_outside() const { return at_ != position::inside; }
  /// Returns true while a call of the network has not reached this stage's part.
  bool is_before() const { return at_ == position::before; }

  /// Begins a call of the network, which runs one chunk. `shapes` returns the shapes of the tensors
  /// that pass the cut before a block.
  void begin(std::function<stage_shapes(std::int64_t block)> shapes) {
    shapes_ = std::move(shapes);
    chunk_ = next_chunk();
    received_ = {};
    sends_states_ = false;
    start_at(0);
  }

  /// Declares that this call computes the encoder's states, which stages inside the decoder send.
  void begin_encoder() { sends_states_ = true; }

  /// Begins the call after the encoder, which has `encoder_blocks` blocks, because each stage has
  /// kept the encoder's states of an earlier call.
  void skip_encoder(std::int64_t encoder_blocks) { start_at(encoder_blocks); }

  /// Returns the tensors of the preceding stage; waits for them in the first call of received().
  stage_tensors const& received() {
    if (received_.hidden.defined()) return received_;
    stage_shapes const shapes = shapes_(blocks().begin);
    stage_tensors empty{at::empty(shapes.hidden, shapes.options), {}, shapes.tokens, shapes.is_split};
    if (sends_states_ && !shapes.states.empty()) empty.states = at::empty(shapes.states, shapes.options);
    return received_ = receive(empty);
  }

  /// Returns true if the chunk has one of the blocks [begin, end).
  bool runs_any(std::int64_t begin, std::int64_t end) const { return blocks().begin < end && blocks().end > begin; }

  /// Returns true if the chunk begins after one of the blocks [begin, end) of a `repeat`, or
  /// directly after the last of them, and the call has not reached it. The stage's part begins
  /// then.
  bool enters(std::int64_t begin, std::int64_t end) {
    if (!is_before() || blocks().begin <= begin || blocks().begin > end) return false;
    at_ = position::inside;
    return true;
  }

  /// Returns true if the chunk ends among the blocks [begin, end) of a `repeat` and another chunk
  /// follows.
  bool leaves(std::int64_t begin, std::int64_t end) const {
    return at_ == position::inside && !is_last_chunk() && blocks().end > begin && blocks().end <= end;
  }

  /// Ends the stage's part and sends its results to the next stage. Throws `error` with exit code
  /// 64 if the hidden states have another shape than the layers declare.
  void leave(stage_tensors results) {
    at_ = position::after;
    check_hidden(results.hidden);
    if (!sends_states_) results.states = at::Tensor();
    send(results);
  }

  /// Ends the current chunk. Returns true if it is the last one of the stage's call. Throws
  /// stage_ended in a training call unless the chunk is the model's last.
  virtual bool end() = 0;

  /// Returns the group of all stages in calls that give the model's output to all of them. Returns
  /// null in training calls, which give it to the last stage only.
  virtual comm::group* sharing() const = 0;

 protected:
  /// Releases the tensors of the preceding stage, which received() returned in the last call of the
  /// network.
  void forget_received() { received_ = {}; }

 private:
  enum class position : std::uint8_t { before, inside, after };

  /// Sets the position to the layers before the block with index `block`.
  void start_at(std::int64_t block) {
    auto const [begin, end] = blocks();
    at_ = begin > block ? position::before : block < end ? position::inside : position::after;
  }

  /// Throws `error` with exit code 64 unless the hidden states after the chunk's last block have
  /// the shape that the next stage expects.
  void check_hidden(at::Tensor const& hidden) const;

  /// Waits for tensors from the preceding stage. Returns them in `empty`, or in tensors of equal
  /// shapes.
  virtual stage_tensors receive(stage_tensors const& empty) = 0;
  virtual void send(stage_tensors const& results) = 0;
  /// Returns the index of the chunk that the next call of the network runs.
  virtual int next_chunk() const = 0;

  shape::stage_cuts cuts_;
  int chunk_ = 0;
  position at_ = position::inside;
  bool sends_states_ = false;  ///< true if edges inside a decoder carry the encoder's states
  std::function<stage_shapes(std::int64_t block)> shapes_;
  stage_tensors received_;
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Returns true if another pipeline stage runs the layer that is called now.
inline bool is_elsewhere(pass const& in) { return in.stage != nullptr && in.stage->is_outside(); }

/// Returns `hidden`, received from the preceding stage, as a tensor with layout X.
template <shape::layout X>
tensor<X> arrived(stage_tensors const& from) {
  if constexpr (shape::is_token_split<X>) return tensor<X>(from.hidden, from.tokens);
  else return tensor<X>(from.hidden);
}

/// Returns the value that a skipped module returns in place of a `Result`.
template <class Result>
Result nothing_of() {
  if constexpr (std::is_default_constructible_v<Result>) return Result();
  else return Result(tensor<shape::partial>());
}

/// Returns the rank of a pass that calls all pipeline stages. Throws `error` with exit code 70 for
/// a pass without the rank's groups, and with exit code 64 for a pass with gradients.
rank_context const& rank_on_stages(pass const& in);

/// Throws `error` with exit code 64. `member`: the function of a network that a pipeline stage does
/// not have, such as "net.fixed()".
[[noreturn]] void refuse_on_stage(char const* member);

/// Returns the tensor that `compute` returns on the last stage, on all stages and on the device
/// `device`. `stages` is the group of the stages, or null if every rank has the model's output.
template <class Compute>
at::Tensor of_last_stage(comm::group* stages, at::Device device, Compute const& compute) {
  if (stages == nullptr) return compute();
  int const last = stages->size() - 1;
  return comm::broadcast_unknown(stages->rank() == last ? compute() : at::Tensor(), *stages, last, device);
}

/// Returns the tensor that `compute` returns on the last stage, on all stages, by one message. All
/// stages know its shape `sizes`, its dtype and its device (`options`). Requires a group `stages`.
template <class Compute>
at::Tensor of_last_stage(comm::group& stages, at::IntArrayRef sizes, at::TensorOptions const& options,
                         Compute const& compute) {
  int const last = stages.size() - 1;
  at::Tensor const y = stages.rank() == last ? compute().contiguous() : at::empty(sizes, options);
  stages.broadcast(y, last);
  return y;
}

/// Returns the model's output `y`, which only the last stage has, as every stage returns it to its
/// user. `stages` is the group of the stages; null if only the last stage returns.
inline at::Tensor given_to_all(at::Tensor const& y, comm::group* stages, network_base const& net, at::Tensor const&) {
  return of_last_stage(stages, net.store().device(), [&] { return y; });
}

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/stage_link.inl.hpp>
#endif
