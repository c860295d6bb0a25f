#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Cuts each file into windows of at most `context + 1` bytes, as examples for byte-level language
/// modelling. A window begins with the last byte of the window before, so that every byte except a
/// file's first is predicted exactly once. A window has at least two bytes of one file. Throws
/// `error` with exit code 65 if every file is shorter than two bytes. Requires context >= 1.
std::vector<std::string> text_windows(std::span<data::text_file const> files, std::int64_t context);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/text_windows.inl.hpp>
#endif
