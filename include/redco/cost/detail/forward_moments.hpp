#pragma once

#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/detail/gathered_blocks.hpp>
#include <redco/cost/memory.hpp>

#include <redco/fact/program.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// A list of the moments of forward, one after each layer that saves tensors, with the bytes saved
/// so far. In a stack of repeated blocks, it contains only the last blocks of each type.
class forward_moments {
 public:
  constexpr forward_moments(fact::program const& p, forward_pass const& f, gathered_blocks const& gathered)
      : events_(p.events), tensors_(f.tensors), gathered_(gathered) {
    now_.gathered = gathered.values(-1);
    std::size_t row = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (row == f.rows.size() || i < f.rows[row].kinds[0].begin) {
        save(i, tensors_[i].saved_bytes());
        continue;
      }
      go_through(f.rows[row]);
      i = f.rows[row++].kinds.back().end;
    }
    end_layer();
  }

  std::vector<moment> list;

 private:
  constexpr void go_through(block_row const& row) {
    end_layer();
    std::int64_t const outside = now_.activations;
    std::vector<std::int64_t> const last = row.last_blocks();
    for (std::size_t n = last.size(); n-- > 0;) {
      std::int64_t const block = last[n];
      now_.block = row.base() + block;
      now_.gathered = gathered_.values_in_forward(row.before + block);
      now_.activations = outside + row.saved_in(block);
      block_row::kind const& kind = row.kinds[row.kind_of(block)];
      bool const again = row.again.has(block), own_input = row.has_own_input(block);
      for (std::size_t i = kind.begin; i < kind.end; ++i) {
        placed_tensor const& t = tensors_[i];
        if (t.lifetime == placed_tensor::kind::own && !again) save(i, t.of_block());
        bool const input = t.lifetime == (again ? placed_tensor::kind::block_input : placed_tensor::kind::saved_input);
        if (input && own_input) save(i, t.bytes);
      }
      end_layer();
    }
    now_.block = -1;
    now_.gathered = gathered_.values_in_forward(row.before + row.blocks() - 1);
    now_.activations = outside + row.saved_in(row.blocks());
  }

  constexpr void save(std::size_t event, std::int64_t bytes) {
    if (bytes == 0) return;
    if (events_[event].layer != now_.layer) end_layer();
    now_.layer = events_[event].layer;
    now_.activations += bytes;
  }

  constexpr void end_layer() {
    if (now_.layer >= 0) list.push_back(now_);
    now_.layer = -1;
  }

  std::vector<fact::event> const& events_;
  std::vector<placed_tensor> const& tensors_;
  gathered_blocks const& gathered_;
  moment now_;
};

}  // namespace redco::cost::detail
