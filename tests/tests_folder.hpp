#pragma once

#include <filesystem>

/// Returns the folder of the tests, which holds their reference data.
inline std::filesystem::path tests_folder() { return std::filesystem::path(__FILE__).parent_path(); }
