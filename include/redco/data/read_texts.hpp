#pragma once

#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco {

/// Returns the texts to learn, in the order given: files and the files of folders. Files that end
/// in .jsonl, .ndjson or .json, in any case, give the text under `key` of each of their objects:
/// one a line, or for .json also an array. `invalid`: see read_text_files. Errors: those of
/// `read_text_files` and `read_jsonl`.
std::vector<std::string> read_texts(std::span<std::string const> paths, std::string const& key = "text",
                                    double invalid = 0);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/read_texts.inl.hpp>
#endif
