#pragma once

// One of the two is empty: REDCO_WITH_SENTENCEPIECE is defined by CMake where it finds the library.
#include <redco/tokenizer/detail/sentencepiece_absent.hpp>
#include <redco/tokenizer/detail/sentencepiece_present.hpp>
