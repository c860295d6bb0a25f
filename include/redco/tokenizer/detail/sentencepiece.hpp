#pragma once

// CMake defines REDCO_WITH_SENTENCEPIECE if it finds the library. Exactly one of the two headers
// declares sentencepiece_model; the other one is empty.
#include <redco/tokenizer/detail/sentencepiece_absent.hpp>
#include <redco/tokenizer/detail/sentencepiece_present.hpp>
