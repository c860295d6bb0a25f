#pragma once

// CMake defines REDCO_WITH_PCRE2 if it finds the library. Exactly one of the two headers declares
// the class regex; the other one is empty.
#include <redco/tokenizer/detail/regex_absent.hpp>
#include <redco/tokenizer/detail/regex_pcre2.hpp>
