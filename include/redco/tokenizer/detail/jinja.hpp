#pragma once

// CMake defines REDCO_WITH_MINJA if it finds the library. Exactly one of the two headers declares
// jinja_template; the other one is empty.
#include <redco/tokenizer/detail/jinja_absent.hpp>
#include <redco/tokenizer/detail/jinja_minja.hpp>
