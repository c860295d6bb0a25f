// Every header in one unit: build.one_definition asks which functions in its object are not inline.

#include <everything.hpp>

void not_inline() {}
