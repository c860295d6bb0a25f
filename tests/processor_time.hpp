#pragma once

#include <ctime>

/// Processor time of this process so far, in seconds. Other programs do not lengthen it, so a bound of
/// a hundred times the usual time tells a quadratic algorithm from a linear one on a busy machine too.
inline double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
