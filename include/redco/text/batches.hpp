#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/tokenizer/chat_template.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::text {

/// Rows of token ids, padded to one length, with a mask that marks the padding.
struct padded_ids {
  at::Tensor ids;  ///< token ids, int64 [B, T]; T is the longest row's length
  /// mask of `ids`, bool [B, T]; false for padding
  at::Tensor mask;
};

/// Left-pads rows of token ids with id `padding`, so that all rows end in the last column. Use it
/// for prompts, and pass the mask to the network as `key_mask`.
padded_ids left_padded(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

/// Right-pads rows of token ids with id `padding`. Use it for texts of an encoder and for labels.
padded_ids right_padded(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding);

/// Converts texts to prompts of bytes for generate(), from the last `most` bytes of each text.
/// Shorter texts are left-padded with id 0.
padded_ids prompt_ids(std::span<std::string const> texts, std::int64_t most);

/// Converts each row of byte ids [B, T], as generate() returns them, to a text without the left
/// padding. The first columns of `ids` are `prompts`; the other columns are generated.
std::vector<std::string> texts_of(at::Tensor const& ids, padded_ids const& prompts);

/// Texts with marked answers that fit into a model's context.
struct answer_examples {
  std::vector<tokenizer::marked_ids> examples;
  std::int64_t shortened = 0;  ///< number of examples whose last ids were cut off
  std::int64_t left_out = 0;   ///< number of texts without an answer in the context, left out
};

/// Cuts each text to at most `context + 1` ids, and leaves out texts in which no answer remains.
/// Throws `error` with exit code 65 if no text remains. Requires context >= 1.
answer_examples fitted(std::vector<tokenizer::marked_ids> texts, std::int64_t context);

/// A row of one text with marked answers, or of several texts one after another.
struct packed_row {
  tokenizer::marked_ids ids;
  std::vector<std::int64_t> starts = {0};  ///< index of the first id of each text
  /// Number of each text among the texts that were packed; set by packed_evenly
  std::vector<std::int64_t> numbers = {};
};

/// Packs texts, in their order, into rows of at most `context + 1` ids. A text is never divided: it
/// goes into the first of the last 64 rows that has room, or begins a row. If `context` is 0, each
/// text is a row. Throws `error` with exit code 65 for a text of more than `context + 1` ids.
std::vector<packed_row> packed(std::span<tokenizer::marked_ids const> texts, std::int64_t context);

/// Packs texts into rows of at most `context + 1` ids and of nearly equal lengths, as few as
/// possible, for a batch with little padding. Throws `error` with exit code 65 for a text of more
/// than `context + 1` ids.
std::vector<packed_row> packed_evenly(std::span<tokenizer::marked_ids const> texts, std::int64_t context);

/// Returns the number of the text that each token belongs to, int64 [B, T], in the batch that
/// token_batch_of makes of the rows of packed_evenly. Padding has a number of its row.
///
///   nn::log_probabilities(net(b.input_ids, nn::documents{b.documents}), b.labels, numbers, texts)
at::Tensor text_numbers(std::span<packed_row const> rows);

/// Shortens a text to at most `most` token ids: its first ids, then its last id (the end token).
/// Requires most > 0.
inline std::vector<std::int64_t> shortened(std::vector<std::int64_t> ids, std::int64_t most) {
  if (std::ssize(ids) <= most) return ids;
  ids[static_cast<std::size_t>(most - 1)] = ids.back();
  ids.resize(static_cast<std::size_t>(most));
  return ids;
}

inline padded_ids prompt_ids(std::span<std::string const> texts, std::int64_t most) {
  std::vector<std::vector<std::int64_t>> rows;
  for (std::string const& text : texts) {
    std::size_t const bytes = std::min(text.size(), static_cast<std::size_t>(most));
    auto& row = rows.emplace_back();
    for (char const c : std::string_view(text).substr(text.size() - bytes))
      row.push_back(static_cast<unsigned char>(c));
  }
  return left_padded(rows, 0);
}

}  // namespace redco::text

namespace redco::text::detail {

/// Returns the position of each token in its row, int64 [B, T]: its index, or -1 where `mask`, bool
/// [B, T], is false. Undefined if the mask is true everywhere.
at::Tensor positions_of(at::Tensor const& mask);

}  // namespace redco::text::detail

namespace redco {

/// A training batch for language models: int64 tensors [B, T]. labels[b][t] is the token that
/// should follow input_ids[b][t]; the loss ignores label -100.
struct token_batch {
  at::Tensor input_ids;
  at::Tensor labels;
  /// Position of each token in its text, for the context entry nn::documents. It is -1 for padding
  /// and for the last id of a text, which is a label only. Undefined if no row holds several texts
  /// or such ids.
  at::Tensor documents = {};
};

/// Cuts each text into windows of at most `context + 1` token ids, as examples for language models.
/// A window begins with the last id of the window before, so that every id except a text's first is
/// predicted exactly once. A window has at least two ids. Throws `error` with exit code 65 if there
/// is no window. Requires context >= 1.
std::vector<std::vector<std::int64_t>> token_windows(std::span<std::vector<std::int64_t> const> texts,
                                                     std::int64_t context);

/// Converts windows of token ids to a training batch; the label of an id is the next id of its
/// window. Shorter windows are right-padded with id `padding` and label -100.
inline token_batch token_batch_of(std::span<std::vector<std::int64_t> const> windows, std::int64_t padding) {
  text::padded_ids const all = text::right_padded(windows, padding);
  std::int64_t const length = std::max<std::int64_t>(all.ids.size(1) - 1, 0);
  at::Tensor const next = all.ids.narrow(1, all.ids.size(1) - length, length);
  at::Tensor const known = all.mask.narrow(1, all.ids.size(1) - length, length);
  return {all.ids.narrow(1, 0, length).contiguous(), next.masked_fill(known.logical_not(), -100),
          text::detail::positions_of(known)};
}

/// Converts texts with marked answers to a training batch, right-padded with id `padding`. The
/// label of an id is the next id of its text if that id belongs to an answer, otherwise -100.
token_batch token_batch_of(std::span<tokenizer::marked_ids const> texts, std::int64_t padding);

/// Converts rows of texts to a training batch, right-padded with id `padding`. Labels are those of
/// each text alone: the first id of a text is no label. Pass the batch's `documents` to the
/// network, so that texts do not see each other: `net(b.input_ids, nn::documents{b.documents})`.
token_batch token_batch_of(std::span<text::packed_row const> rows, std::int64_t padding);

/// Converts rows of documents, such as data::packed_example, to a training batch in the same way,
/// right-padded with id `padding`. All ids but the first of a document are labels.
template <class Row>
  requires requires(Row const& row) {
    std::vector<std::int64_t>(row.tokens);
    std::vector<std::int64_t>(row.starts);
  }
token_batch token_batch_of(std::span<Row const> rows, std::int64_t padding) {
  std::vector<text::packed_row> all;
  for (Row const& row : rows) all.push_back({{row.tokens, std::vector<bool>(row.tokens.size(), true)}, row.starts});
  return token_batch_of(std::span<text::packed_row const>(all), padding);
}

/// Converts texts to a training batch of bytes: ids and labels [B, T], with T at most `context`.
/// The label of a byte is the next byte of its text. Shorter texts are right-padded with id 0 and
/// label -100.
token_batch next_token_batch(std::span<std::string const> texts, std::int64_t context);

/// An example of a sequence-to-sequence task: the token ids of a source text and of its target
/// text. Both include the end token.
struct seq2seq_example {
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> target;
};

/// A training batch for an encoder-decoder model.
struct seq2seq_batch {
  at::Tensor source;       ///< token ids of the source texts, int64 [B, S]
  at::Tensor source_mask;  ///< mask of `source`, bool [B, S]; false for padding
  /// Token ids of the decoder's input, int64 [B, T]: the start id, then the target without its last
  /// id.
  at::Tensor decoder_ids;
  /// Token ids that the decoder should predict, int64 [B, T]: the target, then -100.
  at::Tensor labels;
};

/// Converts examples to a batch with right padding. `start`: first id of the decoder's input;
/// `padding`: id of padding.
seq2seq_batch seq2seq_batch_of(std::span<seq2seq_example const> examples, std::int64_t start, std::int64_t padding);

inline std::vector<std::vector<std::int64_t>> token_windows(std::span<std::vector<std::int64_t> const> texts,
                                                            std::int64_t context) {
  std::vector<std::vector<std::int64_t>> windows;
  for (auto const& text : texts)
    for (std::int64_t begin = 0; begin + 1 < std::ssize(text); begin += context)
      windows.emplace_back(text.begin() + begin, text.begin() + std::min(begin + context + 1, std::ssize(text)));
  if (windows.empty()) throw error(exit_code::data, "no text has two tokens: give longer texts");
  return windows;
}

inline seq2seq_batch seq2seq_batch_of(std::span<seq2seq_example const> examples, std::int64_t start,
                                      std::int64_t padding) {
  std::vector<std::vector<std::int64_t>> sources, targets;
  for (seq2seq_example const& one : examples) {
    sources.push_back(one.source);
    targets.push_back(one.target);
  }
  text::padded_ids const source = text::right_padded(sources, padding), target = text::right_padded(targets, padding);
  at::Tensor const decoder_ids = target.ids.roll(1, 1);
  if (decoder_ids.size(1) > 0) decoder_ids.select(1, 0).fill_(start);
  return {source.ids, source.mask, decoder_ids, target.ids.masked_fill(target.mask.logical_not(), -100)};
}

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/text/batches.inl.hpp>
#endif
