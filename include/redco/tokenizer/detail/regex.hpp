#pragma once

// One of the two is empty: REDCO_WITH_PCRE2 is defined by CMake where it finds the library.
#include <redco/tokenizer/detail/regex_absent.hpp>
#include <redco/tokenizer/detail/regex_pcre2.hpp>
