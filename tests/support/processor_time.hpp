#pragma once

#include <ctime>

/// Returns the processor time of this process, in seconds. Other programs do not increase it, so a
/// bound of a hundred times the usual time separates a quadratic from a linear algorithm even on a
/// busy machine.
inline double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
