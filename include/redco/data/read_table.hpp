#pragma once

#include <redco/data/table.hpp>

#include <filesystem>
#include <span>
#include <string>

namespace redco::data {

/// Returns the `columns` of a CSV, TSV or JSONL file. The first row of a CSV or TSV file names all
/// its columns. The columns of a JSONL file are keys of its objects, with texts, numbers, true or
/// false as values. U+FFFD replaces invalid UTF-8 below the allowed share. Empty lines and a byte
/// order mark are ignored. Throws `error` with exit code 64 for an impossible separator. Throws it
/// with exit code 65 for a file of another format or without rows, and for a missing or repeated
/// column. Throws it with "path:line: why" for a wrong row, an open quote and a row over 64 MiB.
/// Wrong rows have another number of fields, no such key, text after a closing quote, or a NUL.
/// Only they can be skipped.
table read_table(std::filesystem::path const& path, std::span<std::string const> columns,
                 table_options const& options = {});

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_table.inl.hpp>
#endif
