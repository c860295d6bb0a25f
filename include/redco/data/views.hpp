#pragma once

#include <redco/data/detail/computed_iterator.hpp>
#include <redco/data/examples.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/random/stream.hpp>
#include <redco/diag/error.hpp>

#include <range/v3/range/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::data {

/// A range that computes each example when it is read. It is a view of range-v3: copies are cheap.
/// Threads may read concurrently if the ranges and functions of the view allow it.
template <class Example>
class example_view : public ranges::view_base {
 public:
  using iterator = detail::computed_iterator<example_view, Example>;

  example_view() = default;
  /// Makes a range of `size` examples; `read(i)` returns example i.
  example_view(std::int64_t size, std::function<Example(std::int64_t)> read)
      : size_(static_cast<std::size_t>(size)), read_(std::move(read)) {}

  std::size_t size() const { return size_; }
  /// Returns an example. Requires 0 <= index < size().
  Example operator[](std::ptrdiff_t index) const { return read_(index); }
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, static_cast<std::ptrdiff_t>(size_)}; }

 private:
  std::size_t size_ = 0;
  std::function<Example(std::int64_t)> read_;
};

/// A step of a chain of views: `examples | step` is `step.make(examples)`, and `step | next` is one
/// step. The view refers to an lvalue range, which must outlive the view; it keeps an rvalue.
template <class Make>
struct view_step {
  Make make;

  template <class Range>
    requires example_range<std::remove_cvref_t<Range>>
  friend auto operator|(Range&& examples, view_step const& step) { return step.make(std::forward<Range>(examples)); }

  template <class Next>
  friend auto operator|(view_step first, view_step<Next> next) {
    auto both = [first = std::move(first), next = std::move(next)](auto&& examples) {
      return next.make(first.make(std::forward<decltype(examples)>(examples)));
    };
    return view_step<decltype(both)>{std::move(both)};
  }
};

template <class Make>
view_step(Make) -> view_step<Make>;

/// Documents, or parts of documents, one after another in one example of a language model.
struct packed_example {
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> starts;  ///< Index of the first token of each document; the first is 0

  friend bool operator==(packed_example const&, packed_example const&) = default;
};

/// Options of tokenize(). The default ids are those of redco-tokenize.
struct token_options {
  bool add_special = false;   ///< Adds special tokens around a text, as the tokenizer's file asks
  bool find_special = false;  ///< Encodes a special token written in a text as this token
  bool add_end = true;        ///< Adds the tokenizer's end token to each text
};

/// Returns a step that makes token ids (a vector of std::int64_t) of texts: `texts | tokenize(t)`.
/// `options`: special tokens. Throws `error` with exit code 65 if the tokenizer `tokenizer` has no
/// end token to add.
inline auto tokenize(tokenizer::any_tokenizer const& tokenizer, token_options const& options = {}) {
  std::optional<std::int64_t> const end = options.add_end ? tokenizer.specials().end : std::nullopt;
  if (options.add_end && !end)
    throw error(exit_code::data, "the tokenizer has no end token for documents: give add_end = false");
  return view_step{[tokenizer, options, end]<class Range>(Range&& texts) {
    static_assert(std::is_convertible_v<example_of<std::remove_cvref_t<Range>> const&, std::string_view>,
                  "tokenize() takes a range of texts");
    auto const kept = detail::kept(std::forward<Range>(texts));
    return example_view<std::vector<std::int64_t>>(
        detail::count_of(*kept), [kept, tokenizer, options, end](std::int64_t i) {
          auto&& text = detail::example_at(*kept, i);
          auto ids = tokenizer.encode(std::string_view(text), {options.add_special, options.find_special});
          if (end) ids.push_back(*end);
          return ids;
        });
  }};
}

/// Returns a step that changes examples by random numbers: `examples | augment(f)`. Example i
/// becomes `function(example, stream)`, of any type. The stream depends only on `seed`, the epoch
/// and i, so that the result does not depend on the mesh or the number of threads.
///
///     auto const train = texts | redco::data::augment([](std::string text, auto stream) {
///       text[redco::random::below(stream, 0, text.size())] = ' ';
///       return text;
///     });
template <class Function>
auto augment(Function function, std::uint64_t seed = 42) {
  return view_step{[function = std::move(function), seed]<class Range>(Range&& examples) {
    using example = example_of<std::remove_cvref_t<Range>>;
    using result = std::remove_cvref_t<std::invoke_result_t<Function const&, example const&, random::stream>>;
    auto const kept = detail::kept(std::forward<Range>(examples));
    return example_view<result>(detail::count_of(*kept), [kept, function,
                                                          key = random::seed_of(seed, "augment")](std::int64_t i) {
      auto const call = static_cast<std::uint32_t>(reading_epoch::current());
      return function(detail::example_at(*kept, i), random::make_stream(key, 0, static_cast<std::uint64_t>(i), call));
    });
  }};
}

}  // namespace redco::data

namespace redco::data::detail {

/// A sequence of documents that is cut into windows: their lengths, summed up.
class packed_documents {
 public:
  void add(std::size_t length) { ends_.push_back(total() + static_cast<std::int64_t>(length)); }

  std::int64_t total() const { return ends_.empty() ? 0 : ends_.back(); }
  /// Returns the first token of a document.
  std::int64_t begin(std::int64_t document) const {
    return document == 0 ? 0 : ends_[static_cast<std::size_t>(document) - 1];
  }
  std::int64_t length(std::int64_t document) const {
    return ends_[static_cast<std::size_t>(document)] - begin(document);
  }
  /// Returns the document of a token. Requires 0 <= token < total().
  std::int64_t document_of(std::int64_t token) const {
    return std::upper_bound(ends_.begin(), ends_.end(), token) - ends_.begin();
  }

 private:
  std::vector<std::int64_t> ends_;
};

/// Appends the tokens of a document from `skipped` on to `to`, so that it has at most `most`.
/// Throws `error` with exit code 65 if the document has another length than `length`.
inline void append_document(packed_example& to, std::vector<std::int64_t> const& document, std::int64_t index,
                            std::int64_t length, std::int64_t skipped, std::int64_t most) {
  if (std::ssize(document) != length)
    throw error(exit_code::data, "document " + std::to_string(index) + " has " + std::to_string(document.size()) +
                                     " tokens, but had " + std::to_string(length) +
                                     " when pack() read it: make the steps before pack() give equal lengths each time");
  auto const count = std::min(length - skipped, most - std::ssize(to.tokens));
  to.starts.push_back(std::ssize(to.tokens));
  to.tokens.insert(to.tokens.end(), document.begin() + skipped, document.begin() + skipped + count);
}

}  // namespace redco::data::detail

namespace redco::data {

/// Returns a step that packs documents of token ids into examples: `documents | pack(n)`. Example
/// i has the ids i * context ... (i + 1) * context of all documents in a row. It begins with the
/// last id of the example before, so that each id is a label once. The last example may be shorter,
/// with at least two ids. The step reads all documents once and keeps 8 bytes for each. An example
/// reads its documents again; for large sets, token_file with split_documents() reads less. Throws
/// `error` with exit code 64 unless context >= 1, and 65 if the documents have fewer than two ids.
inline auto pack(std::int64_t context) {
  if (context < 1)
    throw error(exit_code::usage, "pack(" + std::to_string(context) + "): give a context of at least 1 token");
  return view_step{[context]<class Range>(Range&& documents) {
    auto const kept = detail::kept(std::forward<Range>(documents));
    auto const index = std::make_shared<detail::packed_documents>();
    for (std::int64_t i = 0; i < detail::count_of(*kept); ++i) index->add(detail::example_at(*kept, i).size());
    if (index->total() < 2)
      throw error(exit_code::data, "documents of " + std::to_string(index->total()) +
                                       " tokens in all cannot be packed: give at least two tokens");
    return example_view<packed_example>((index->total() - 1 + context - 1) / context, [=](std::int64_t i) {
      packed_example packed;
      std::int64_t const most = std::min(context + 1, index->total() - i * context);
      for (std::int64_t at = index->document_of(i * context); std::ssize(packed.tokens) < most; ++at)
        if (index->length(at) > 0)
          detail::append_document(packed, detail::example_at(*kept, at), at, index->length(at),
                                  std::max<std::int64_t>(0, i * context - index->begin(at)), most);
      return packed;
    });
  }};
}

/// Returns a step that finds the documents in windows of ids: `windows | split_documents(end)`. A
/// document begins after each id `end`, as in token files: give `token_file::header().end`. Throws
/// `error` with exit code 65 if there is no end id.
inline auto split_documents(std::optional<std::int64_t> end) {
  if (!end) throw error(exit_code::data, "the windows have no end id: tokenize with a token that ends documents");
  return view_step{[end = *end]<class Range>(Range&& windows) {
    auto const kept = detail::kept(std::forward<Range>(windows));
    return example_view<packed_example>(detail::count_of(*kept), [kept, end](std::int64_t i) {
      packed_example packed{detail::example_at(*kept, i), {0}};
      for (std::int64_t t = 1; t < std::ssize(packed.tokens); ++t)
        if (packed.tokens[static_cast<std::size_t>(t) - 1] == end) packed.starts.push_back(t);
      return packed;
    });
  }};
}

}  // namespace redco::data
