#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/model/model.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace redco::generation {

/// A decoder that asks a network for one token after another. It caches keys and values of earlier
/// positions, so a call computes only the new positions. If the network is bound to a `key_mask`
/// [B, T] of the prompts, masked tokens are never attended to, and positions count from each row's
/// first unmasked token.
template <model M, class... Items>
class decoding {
 public:
  /// Prepares for prompts of `length` tokens and `more` new tokens. `copies`: largest number of
  /// rows per prompt, as in beam search. Throws `error` with exit code 64 if a prompt has no
  /// unmasked token, or if `length + more` exceeds the model's context.
  decoding(bound_network<M, Items...> const& net, std::int64_t length, std::int64_t more, std::int64_t copies = 1)
      : net_(net),
        cache_(net.base().cache_slots(), length + more, copies),
        pass_(nn::decoding_pass(net.pass(), cache_)) {
    if (length < 1) throw error(exit_code::usage, "a prompt without tokens cannot be continued: begin it with one");
    std::int64_t const context = models::context_of(net.base().model(), length + more);
    if (length + more > context)
      throw error(exit_code::usage, "a prompt of " + std::to_string(length) + " and " + std::to_string(more) +
                                        " new tokens exceed the context of " + std::to_string(context) +
                                        ": ask for fewer");
    if constexpr (has_entry<key_mask>) {
      at::Tensor const prompt = tensors::to_cpu(net.template get<key_mask>());
      if (!prompt.any(1).all().template item<bool>())
        throw error(exit_code::usage, "a prompt without tokens cannot be continued: begin it with one");
      shown_ = at::cat({prompt, at::ones({prompt.size(0), more}, at::kBool)}, 1);
      positions_ = (shown_.to(at::kLong).cumsum(1) - 1).clamp_min(0);
    }
    if constexpr (has_entry<encoder_mask>) shown_source_ = tensors::to_cpu(net.template get<encoder_mask>());
  }
  decoding(decoding const&) = delete;
  decoding& operator=(decoding const&) = delete;

  redco::pass const& pass() const { return pass_; }

  /// Returns the logits [B, 1] of the token that follows `input` [B, T]. `input` continues the
  /// tokens of all earlier calls.
  logits next(at::Tensor const& input) {
    std::int64_t const limit = net_.base().cache_limit(), before = cache_.length();
    if (limit > 0) seen_ = before > 0 ? at::cat({seen_, input}, 1) : input;
    if (outgrows_cache(limit, input.size(1))) {
      cache_ = nn::key_value_cache(net_.base().cache_slots(), cache_.capacity());
      return following(seen_);
    }
    return following(input);
  }

  /// Replaces the rows of the decoder's state: the new row i continues the old row rows[i]. Beam
  /// search calls it after each step.
  void select_rows(at::Tensor const& rows) {
    cache_.select_rows(rows);
    for (at::Tensor* const by_row : {&shown_, &positions_, &shown_source_, &seen_})
      if (by_row->defined()) *by_row = by_row->index_select(0, rows);
  }

 private:
  template <class Key>
  static constexpr bool has_entry = bound_network<M, Items...>::template has<Key>;

  /// Returns true if the text of some row had at most `limit` tokens and has more after `tokens`
  /// further ones, so that its cached keys are wrong. False if `limit` is 0 or nothing is cached.
  bool outgrows_cache(std::int64_t limit, std::int64_t tokens) const {
    std::int64_t const before = cache_.length();
    if (limit == 0 || before == 0) return false;
    if (!positions_.defined()) return before <= limit && before + tokens > limit;
    return positions_.select(1, before - 1)
        .lt(limit)
        .logical_and(positions_.select(1, before + tokens - 1).ge(limit))
        .any()
        .template item<bool>();
  }

  /// Returns the logits of the token that follows `input`, which continues the cached tokens.
  logits following(at::Tensor const& input) {
    std::int64_t const begin = cache_.length(), length = input.size(1);
    logits const result = masked(begin, length, [&](auto const& net) { return net(input).last(); });
    cache_.advance(length);
    return result;
  }

  /// Returns the mask of the tokens before position `end`, bool [B, end], without gaps in memory.
  /// It takes the memory of a mask of all tokens, so that all steps allocate equally.
  at::Tensor shown_before(std::int64_t end) const {
    std::int64_t const rows = shown_.size(0);
    at::Tensor const part = at::empty(shown_.numel(), at::kBool).narrow(0, 0, rows * end).view({rows, end});
    return part.copy_(shown_.narrow(1, 0, end));
  }

  /// Calls `use` with the network, bound to the masks and positions for `length` tokens from
  /// position `begin` on.
  template <class Use>
  logits masked(std::int64_t begin, std::int64_t length, Use const& use) const {
    auto const with_source = [&](auto const& net) {
      if constexpr (has_entry<encoder_mask>) {
        return use(net.with(encoder_mask{shown_source_}));
      } else {
        return use(net);
      }
    };
    auto const decoder = net_.in(pass_);
    if constexpr (has_entry<key_mask>) {
      return with_source(decoder.with(key_mask{shown_before(begin + length)},
                                      nn::token_positions{positions_.narrow(1, begin, length)}));
    } else {
      return with_source(decoder);
    }
  }

  bound_network<M, Items...> net_;
  nn::key_value_cache cache_;
  redco::pass pass_;
  at::Tensor shown_, positions_, shown_source_;
  at::Tensor seen_;  // All tokens so far, if the network limits the cache
};

}  // namespace redco::generation
