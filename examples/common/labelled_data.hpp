#pragma once

// Labelled texts of a command line: files, or generated pairs of sentences.

#include <redco/text/batches.hpp>
#include <redco/data/read_table.hpp>
#include <redco/data/table.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include "labels.hpp"
#include "sentence_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace labelled_data {

/// Command-line options of labelled texts, to be nested in a program's options.
struct options {
  std::string task = "classification", data, eval, text = "text", pair, label = "label";
  std::int64_t max_tokens = 128, pairs = 40000;

  static constexpr auto fields() {
    using o = options;
    return redco::fields(
        redco::field<"task">(&o::task, "classification, or regression: one number for each example"),
        redco::field<"data">(&o::data, "examples to learn: .csv, .jsonl, or .tsv without quotes; default: generated"),
        redco::field<"eval">(&o::eval, "examples to measure; default: every tenth one of --data"),
        redco::field<"text">(&o::text, "column of a text"),
        redco::field<"pair">(&o::pair, "column of the second text of a pair; default: none"),
        redco::field<"label">(&o::label, "column of a label: a name, a whole number, or the number to predict"),
        redco::field<"max_tokens">(&o::max_tokens, "tokens of an example; the rest is cut off").at_least(8),
        redco::field<"pairs">(&o::pairs, "number of pairs that are generated to learn from").at_least(2));
  }

  bool regression() const { return task == "regression"; }
};

/// Rows to train on and to measure, and the names of the model's outputs.
struct data_set {
  redco::data::table train, eval;
  std::vector<std::string> names;
};

/// Reads or generates the examples. Throws the errors of `redco::data::read_table`. Throws `error`
/// with exit code 64 for an unknown task.
inline data_set read(options const& o, std::uint64_t seed) {
  if (!o.regression() && o.task != "classification")
    throw redco::error(redco::exit_code::usage, "--task " + o.task + ": give classification or regression");
  data_set all;
  if (o.data.empty()) {
    all.train = sentence_pairs::draw(static_cast<std::size_t>(o.pairs), seed, o.regression(), false);
    all.eval = sentence_pairs::draw(1000, seed, o.regression(), true);
  } else {
    std::vector<std::string> columns{o.text, o.pair, o.label};
    std::erase(columns, "");
    auto const table = [&](std::string const& file) {
      return redco::data::read_table(file, columns, {.quotes = !file.ends_with(".tsv")});
    };
    all.train = table(o.data);
    all.eval = o.eval.empty() ? redco::data::hold_out_rows(all.train, 10) : table(o.eval);
  }
  all.names = o.regression() ? std::vector<std::string>{o.label} : labels::names_of(all.train);
  return all;
}

/// A text or a pair of texts as token ids, with the type (segment) of each id. The label is the
/// index of a class, or the number to predict.
struct example {
  std::vector<std::int64_t> ids, types;
  double label;
};

/// Returns the examples of a table: its first column, or its first two columns as a pair, in at
/// most `most` tokens. Labels of a regression are numbers, others are among `names`. Throws the
/// errors of labels.hpp.
inline std::vector<example> encoded(redco::data::table const& from, redco::tokenizer::any_tokenizer const& tokenizer,
                                    std::int64_t most, std::vector<std::string> const& names, bool regression) {
  auto const wanted = regression ? labels::numbers_of(from) : labels::classes_of(from, names);
  std::vector<example> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto const& row = from.rows[i];
    redco::tokenizer::pair_encoding text;
    if (row.size() > 2) text = tokenizer.encode_pair(row[0], row[1], most);
    else text.ids = redco::text::shortened(tokenizer.encode(row[0]), most);
    text.types.resize(text.ids.size());
    all.push_back({std::move(text.ids), std::move(text.types), wanted[i]});
  }
  return all;
}

/// Returns the length of the longest example.
inline std::int64_t longest(std::vector<example> const& all) {
  std::size_t most = 0;
  for (example const& one : all) most = std::max(most, one.ids.size());
  return static_cast<std::int64_t>(most);
}

}  // namespace labelled_data
