#pragma once

#include <ctime>

/// Processor time of this process so far, in seconds. Other programs on a busy machine do not lengthen it: a bound of a hundred times the
/// usual time tells a quadratic algorithm, which would need minutes to hours, from a linear one.
inline double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
