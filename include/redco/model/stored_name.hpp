#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace redco {

/// A row of a table of names: the place of one of our parameters in a file. In both names `*` is
/// the index of a repeated layer.
struct stored_name {
  std::string_view ours = {};
  std::string_view theirs = {};
  bool transposed = false;  ///< True if the file stores rows and columns exchanged
  int part = 0;             ///< Index of our parameter among the `parts` in the file's tensor
  /// Number of our parameters that the file stores as one tensor, concatenated along our first
  /// dimension.
  int parts = 1;
  int ones = 0;       ///< Number of extents 1 that the file's shape has before ours
  bool zero = false;  ///< True if our parameter is zero when the file lacks it
};

/// A table of the parameter names of model M in files. The default keeps the model's names, as
/// redco's own checkpoints do. Specialise it for a model of Hugging Face transformers; base files
/// lack the model's head:
///   static constexpr std::array names{stored_name{...}, ...};      every parameter, once
///   static constexpr std::array unread{std::string_view("...")};  patterns of other tensors
///   static constexpr std::string_view base = "...";                prefix missing in base files
///   static constexpr std::array heads{std::string_view("...")};   layers missing in base files
template <class M>
struct stored_names {
  static constexpr std::array<stored_name, 0> names{};
  static constexpr std::array<std::string_view, 0> unread{};
};

/// The table `stored_names` of a model as a run-time value.
struct stored_table {
  std::span<stored_name const> names = {};
  std::span<std::string_view const> unread = {};
  std::string_view base = {};
  std::span<std::string_view const> heads = {};
};

template <class M>
constexpr stored_table stored_table_of() {
  stored_table table{.names = stored_names<M>::names, .unread = stored_names<M>::unread, .base = {}, .heads = {}};
  if constexpr (requires { stored_names<M>::base; }) table.base = stored_names<M>::base;
  if constexpr (requires { stored_names<M>::heads; }) table.heads = stored_names<M>::heads;
  return table;
}

/// The place of a parameter in a file: its name there and its table row, null if the table has no
/// row for it. A table without rows keeps every name.
struct stored_place {
  std::string theirs;
  stored_name const* row = nullptr;
};
stored_place place_in_file(std::span<stored_name const> names, std::string_view ours);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/model/stored_name.inl.hpp>
#endif
