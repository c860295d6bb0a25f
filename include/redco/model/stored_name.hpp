#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace redco {

/// Where a file keeps a parameter of ours. In both names `*` stands for the number of a repeated layer.
struct stored_name {
  std::string_view ours = {};
  std::string_view theirs = {};
  bool transposed = false;  ///< the file has rows and columns exchanged
  int part = 0;             ///< ours is this one of
  int parts = 1;            ///< so many that the file keeps as one tensor, one behind the other along our first extent
  int ones = 0;             ///< extents of 1 that the file has in front of ours
  bool zero = false;        ///< ours is zero where the file lacks it
};

/// How files name the parameters of the model M: as the model does, which is what its own checkpoints and files hold. For a
/// model that Hugging Face transformers have, their names:
///   static constexpr std::array names{stored_name{...}, ...};       every parameter, once
///   static constexpr std::array unread{std::string_view("...")};  patterns of what files may hold besides
///   static constexpr std::string_view base = "...";                 prefix that files of the base model alone leave out
///   static constexpr std::array heads{std::string_view("...")};   our layers that files of the base model alone lack
template <class M>
struct stored_names {
  static constexpr std::array<stored_name, 0> names{};
  static constexpr std::array<std::string_view, 0> unread{};
};

/// `stored_names` as a value.
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

/// The name in the file, and how it is kept there; null where `ours` is in no row of the table. A table without rows
/// keeps every name.
struct stored_place {
  std::string theirs;
  stored_name const* row = nullptr;
};
stored_place place_in_file(std::span<stored_name const> names, std::string_view ours);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/model/stored_name.inl.hpp>
#endif
