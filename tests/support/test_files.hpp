#pragma once

#include <filesystem>

/// Returns the folder of the files that tests read.
inline std::filesystem::path test_files() { return std::filesystem::path(__FILE__).parent_path() / ".." / "files"; }
