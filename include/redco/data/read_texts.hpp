#pragma once

#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco {

/// Returns the texts of files, and of the files in folders, in the given order. A .jsonl, .ndjson
/// or .json file (in any case of letters) contains one JSON object per line, or an array of objects
/// if it is .json. Each object gives the string under `key`. `invalid`: share of a file's bytes, 0
/// to 1, that may be NUL or invalid UTF-8. Throws the errors of `read_text_files` and `read_jsonl`.
std::vector<std::string> read_texts(std::span<std::string const> paths, std::string const& key = "text",
                                    double invalid = 0);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_texts.inl.hpp>
#endif
