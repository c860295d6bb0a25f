#pragma once

#include <redco/data/detail/table_reader.hpp>

#include <redco/tokenizer/invalid_utf8.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/nearest.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <iterator>

namespace redco::data::detail {

REDCO_INLINE void table_reader::take(std::string_view bytes) {
  encoding_.bytes += bytes.size();
  for (char const c : bytes) {
    bool const line_break = c == '\n' || c == '\r';
    bool const second = c == '\n' && after_return_;
    after_return_ = c == '\r';
    if (state_ == state::row_begin && !line_break) {
      row_line_ = line_;
      row_bytes_ = 0;
      state_ = state::field_begin;
    }
    if (state_ != state::row_begin) take_in_row(c, line_break);
    if (line_break && !second) ++line_;
  }
}

/// Takes a byte of the current row. Quotes have a meaning only where a field begins and within
/// quoted fields, as in RFC 4180 and in Python's csv module.
REDCO_INLINE void table_reader::take_in_row(char c, bool line_break) {
  if (++row_bytes_ > longest_row)
    throw error(exit_code::data, at_line(row_line_) + "the row is longer than 64 MiB; close its quotes, or split it");
  switch (state_) {
    case state::quoted:
      if (c == '"') state_ = state::quote_in_quoted;
      else field_.push_back(c);
      return;
    case state::quote_in_quoted:
      if (c == '"') {
        field_.push_back(c);
        state_ = state::quoted;
        return;
      }
      if (c != separator_ && !line_break)
        wrong(field_name() + " has text after its closing quote (a quote inside quotes is written twice)");
      break;
    case state::row_begin:
    case state::field_begin:
      if (c == '"' && options_.quotes) {
        quote_line_ = line_;
        state_ = state::quoted;
        return;
      }
      break;
    case state::unquoted: break;
  }
  state_ = state::unquoted;
  if (c == separator_) end_field();
  else if (line_break) end_row();
  else field_.push_back(c);
}

REDCO_INLINE void table_reader::end_field() {
  if (field_.find('\0') != std::string::npos) wrong(field_name() + " contains a NUL byte");
  if (tokenizer::invalid_utf8_of(field_).bytes > 0)
    encoding_.take(field_, 0, read_.path + ":" + std::to_string(row_line_) + ", " + field_name());
  if (!has_header_) header_.push_back(field_);
  else if (fields_ < targets_.size())
    for (std::size_t const target : targets_[fields_]) row_[target] = field_;
  field_.clear();
  ++fields_;
  state_ = state::field_begin;
}

REDCO_INLINE void table_reader::end_row() {
  end_field();
  if (has_header_) check_row();
  else read_header();
  why_wrong_.clear();
  fields_ = 0;
  state_ = state::row_begin;
}

REDCO_INLINE void table_reader::read_header() {
  if (!why_wrong_.empty()) throw error(exit_code::data, why_wrong_ + "; correct the header");
  has_header_ = true;
  targets_.resize(header_.size());
  for (std::size_t target = 0; target < read_.columns.size(); ++target) {
    std::string const& name = read_.columns[target];
    auto const found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) {
      std::string const meant = meta::nearest(name, header_);
      throw error(exit_code::data,
                  at_line(row_line_) + "no column \"" + name + "\" among " + listed(header_) +
                      (meant.empty() ? "; name one of these, or set the separator, now " + separator_name()
                                     : "; did you mean \"" + meant + "\"?"));
    }
    if (std::find(std::next(found), header_.end(), name) != header_.end())
      throw error(exit_code::data,
                  at_line(row_line_) + "two columns have the name \"" + name + "\"; rename one of them");
    targets_[static_cast<std::size_t>(found - header_.begin())].push_back(target);
  }
}

REDCO_INLINE void table_reader::check_row() {
  if (fields_ != header_.size())
    wrong(std::to_string(fields_) + (fields_ == 1 ? " field" : " fields") + " instead of the " +
          std::to_string(header_.size()) + " of the header, separated by " + separator_name());
  if (why_wrong_.empty()) {
    read_.rows.push_back(row_);
    read_.lines.push_back(row_line_);
    return;
  }
  if (!options_.skip_wrong_rows)
    throw error(exit_code::data, why_wrong_ + "; correct the row, or skip wrong rows with skip_wrong_rows");
  if (read_.skipped++ == 0) read_.first_skipped = why_wrong_;
}

REDCO_INLINE table table_reader::finish() {
  // Skipping such a row would skip the rest of the file.
  if (state_ == state::quoted)
    throw error(exit_code::data, at_line(quote_line_) + "the quote that opens " + field_name() +
                                     " is not closed; close it, or set quotes to false if no field is quoted");
  if (state_ != state::row_begin) end_row();
  if (!has_header_) throw error(exit_code::data, read_.path + " has no header; write the names of the columns first");
  encoding_.check(options_.invalid_utf8);
  if (read_.rows.empty() && read_.skipped > 0)
    throw error(exit_code::data, read_.path + " has no correct row; the first of " + std::to_string(read_.skipped) +
                                     " wrong rows: " + read_.first_skipped);
  if (read_.rows.empty())
    throw error(exit_code::data, read_.path + " has no row after its header; give a file with examples");
  return std::move(read_);
}

}  // namespace redco::data::detail
