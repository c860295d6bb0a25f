#pragma once

#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco {

/// Texts to learn, in the order given: files, the files of folders, and of files that end in .jsonl the text under `key` of each
/// line. Errors: those of `read_text_files` and `read_jsonl`.
std::vector<std::string> read_texts(std::span<std::string const> paths, std::string const& key = "text");

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/read_texts.inl.hpp>
#endif
