#pragma once

#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco {

/// Returns the texts of files and of the files in folders, in the order given. Files ending in
/// .jsonl, .ndjson or .json, in any case, give the text under `key` of each object: one object per
/// line, or for .json also an array. `invalid`: see read_text_files. Throws the errors of
/// `read_text_files` and `read_jsonl`.
std::vector<std::string> read_texts(std::span<std::string const> paths, std::string const& key = "text",
                                    double invalid = 0);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/read_texts.inl.hpp>
#endif
