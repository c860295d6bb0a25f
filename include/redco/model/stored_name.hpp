#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::models {

/// A tensor of files that store a parameter for all indices of its first dimension together, such
/// as the experts of transformers 5: [indices, parts * rows, ...]. `theirs` is empty if no files do
/// so.
struct stacked_name {
  std::string_view theirs = {};  ///< Name of the tensor; `*` is the index of a repeated block
  /// Index of redco's parameter among the `parts` parameters that the tensor joins along its second
  /// dimension
  int part = 0;
  int parts = 1;
};

/// A row of a table that maps a parameter name of redco (`ours`) to the name of a tensor in a
/// weights file (`theirs`), such as a Hugging Face file. In both names, `*` is the index of a
/// repeated block. A row whose `ours` ends with ".*" is for a parameter that files store as one
/// tensor for each index of the first dimension, such as experts; the last `*` is this index.
struct stored_name {
  std::string_view ours = {};
  std::string_view theirs = {};
  bool transposed = false;  ///< True if the file's tensor is the transpose of redco's
  /// Index of redco's parameter among the `parts` parameters that the file stores as one tensor
  /// (such as q, k, v).
  int part = 0;
  /// Number of redco's parameters that the file stores as one tensor, concatenated along the first
  /// dimension; 1 if not joined.
  int parts = 1;
  /// Number of dimensions of size 1 that the file's shape has before the dimensions of redco's
  /// shape.
  int ones = 0;
  bool zero = false;  ///< True if redco's parameter becomes zero when the file does not contain it
  /// First row of redco's parameter in the file's tensor, which has `rows` rows. Used if `rows` >
  /// 0, for joined parameters of different sizes.
  std::int64_t first = 0;
  std::int64_t rows = 0;
  /// Number of adjacent rows that the file's tensor takes from each of the joined parameters in
  /// turn, such as those of a head; 0: each parameter as a whole.
  std::int64_t group = 0;
  /// Another form of the files: one tensor for all indices, or another name if `theirs` has as many
  /// `*`. Such files are read; files are saved with the names `theirs`.
  stacked_name stacked = {};
};

/// A table of the names that the parameters of model M have in weights files. By default, names in
/// files are redco's names. Specialise it for a model of Hugging Face transformers:
///   static constexpr std::array names{stored_name{...}, ...};      every parameter, once
///   static constexpr std::array unread{std::string_view("...")};  patterns of tensors to ignore
///   static constexpr std::string_view base = "...";  name prefix that headless base files lack
///   static constexpr std::array heads{std::string_view("...")};  layers that base files lack
///   static std::vector<stored_name> names_of(config const&);  if names depend on the config
template <class M>
struct stored_names {
  static constexpr std::array<stored_name, 0> names{};
  static constexpr std::array<std::string_view, 0> unread{};
};

/// A model's table of parameter names in files (`stored_names`) as a run-time value, independent of
/// the model's type.
struct stored_table {
  std::vector<stored_name> names = {};
  std::span<std::string_view const> unread = {};
  std::string_view base = {};
  std::span<std::string_view const> heads = {};
};

/// Returns the rows of the table of tensor names in files for the given model.
template <class M>
std::vector<stored_name> stored_names_of(M const& model) {
  if constexpr (requires { stored_names<M>::names_of(model.config); }) return stored_names<M>::names_of(model.config);
  else return {stored_names<M>::names.begin(), stored_names<M>::names.end()};
}

template <class M>
stored_table stored_table_of(M const& model) {
  stored_table table{.names = stored_names_of(model), .unread = stored_names<M>::unread, .base = {}, .heads = {}};
  if constexpr (requires { stored_names<M>::base; }) table.base = stored_names<M>::base;
  if constexpr (requires { stored_names<M>::heads; }) table.heads = stored_names<M>::heads;
  return table;
}

/// The name of a parameter in a weights file, and the table row from which the name follows. The
/// row is null if the table has none for the parameter. An empty table keeps every name.
struct stored_match {
  std::string theirs;
  stored_name const* row = nullptr;
};
stored_match find_stored_name(std::span<stored_name const> names, std::string_view ours);

}  // namespace redco::models

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/model/stored_name.inl.hpp>
#endif
