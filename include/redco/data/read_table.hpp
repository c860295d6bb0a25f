#pragma once

#include <redco/data/table.hpp>

#include <filesystem>
#include <span>
#include <string>

namespace redco::data {

/// Returns the `columns` of a CSV, TSV or JSONL file. The first row of a CSV or TSV file names all
/// its columns. The columns of a JSONL file are keys of its objects, with texts, numbers, true or
/// false; the options `separator` and `quotes` do not concern it. U+FFFD replaces invalid UTF-8
/// below the allowed share. Empty lines and a byte order mark are ignored.
///
/// Throws `error` with exit code 64 for an impossible separator. Throws it with exit code 65 for a
/// file that is missing, compressed, UTF-16, a spreadsheet or without rows, and for a missing or
/// repeated column. Throws it with "path:line: why" for a wrong row (number of fields, a missing key,
/// text after a closing quote, a NUL), for an unclosed quote and for a row over 64 MiB. Only wrong
/// rows can be skipped.
table read_table(std::filesystem::path const& path, std::span<std::string const> columns,
                 table_options const& options = {});

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_table.inl.hpp>
#endif
