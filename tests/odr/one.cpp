// Every header in two translation units: linking fails if one of them defines a function that is not inline.

#include <everything.hpp>

int other_unit();

int main() { return other_unit(); }
