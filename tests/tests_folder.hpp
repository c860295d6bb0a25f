#pragma once

#include <filesystem>

/// The folder of the tests, where their reference data lies.
inline std::filesystem::path tests_folder() { return std::filesystem::path(__FILE__).parent_path(); }
