#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Examples for byte-level language modelling: windows of `context` + 1 bytes, each beginning at the byte where the one
/// before ended, so that every byte but the first of a file is predicted exactly once. The last window of a file is
/// what is left, at least two bytes. No window spans two files. Throws error 65 when there is no window at all: every
/// file is shorter than two bytes. Requires context >= 1.
std::vector<std::string> text_windows(std::span<text_file const> files, std::int64_t context);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/data/text_windows.inl.hpp>
#endif
