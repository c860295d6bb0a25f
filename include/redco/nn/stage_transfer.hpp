#pragma once

#include <redco/nn/stage_link.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/machines.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/ticket.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/scattered_edges.hpp>

#include <cstdint>
#include <vector>

namespace redco::nn {

/// The messages of one rank to and from its peers in other pipeline stages. A tensor that is
/// replicated over tp may pass in parts (see shape::is_scattered). Sender and receiver decide
/// alike, because both know its shape.
class stage_transfer {
 public:
  explicit stage_transfer(rank_context const& rank)
      : stages_(rank.group(shape::axis::pp)), tp_(rank.tp), machines_(comm::machines_of(rank.mesh)) {}

  comm::group& stages() const { return stages_; }

  /// Sends the tensors to the stage `to`. May wait until the receiver has them.
  void send(stage_tensors const& all, int to, int tag) const {
    each(all, [&](at::Tensor const& x, bool is_split) { stages_.send(sent(x, is_split, to), to, tag); });
  }

  /// Starts to send the tensors to the stage `to`, as comm::group::send_later() does.
  std::vector<comm::ticket> send_later(stage_tensors const& all, int to, int tag) const {
    std::vector<comm::ticket> tickets;
    each(all, [&](at::Tensor const& x, bool is_split) {
      tickets.push_back(stages_.send_later(sent(x, is_split, to), to, tag));
    });
    return tickets;
  }

  /// Fills the contiguous tensors with those that the stage `from` sent. All ranks of the replica
  /// must call it in the same order. Needs memory for a copy of one part of a scattered tensor.
  void receive(stage_tensors const& all, int from, int tag) const {
    each(all, [&](at::Tensor const& x, bool is_split) {
      if (!passes_in_parts(x, is_split, from)) return stages_.recv(x, from, tag);
      at::Tensor const elements = x.view(-1);
      stages_.recv(tp_.part_of(elements, 0), from, tag);
      tp_.all_gather_in_place(elements);
    });
  }

 private:
  /// Calls `use(tensor, is_split)` for the hidden states and for the encoder's states, if there are
  /// any.
  template <class Use>
  static void each(stage_tensors const& all, Use const& use) {
    use(all.hidden, all.is_split);
    if (all.states.defined()) use(all.states, false);
  }

  bool passes_in_parts(at::Tensor const& x, bool is_split, int other) const {
    auto const bytes = static_cast<std::int64_t>(x.nbytes());
    return !is_split && shape::is_scattered(machines_, stages_.rank(), other, x.numel(), bytes);
  }

  /// Returns the elements of `x` that this rank sends to the stage `to`.
  at::Tensor sent(at::Tensor const& x, bool is_split, int to) const {
    if (!passes_in_parts(x, is_split, to)) return x;
    return tp_.part_of(x.detach().contiguous().view(-1), 0);
  }

  comm::group& stages_;
  comm::group& tp_;
  shape::host_map machines_;
};

}  // namespace redco::nn
