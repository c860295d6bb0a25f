#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace redco::kernel::cpu {

// The f64 versions of the functions of attention_rows.hpp: one element at a time, with std::exp.

template <int, class T>
double softmax_lanes(double* z, std::int64_t n, std::int64_t width, double const* keep, T* p, double& top) {
  top = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < n; ++j) top = top > z[j] ? top : z[j];
  double total = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    double const x = std::exp(z[j] - top);
    total += x;
    p[j] = keep != nullptr ? x * keep[j] : x;
  }
  for (auto j = n; j < width; ++j) p[j] = 0;
  return total;
}

template <int, class T>
void softmax_backward_lanes(double* z, double const* dp, std::int64_t n, std::int64_t width, double const* keep,
                            double lse, double delta, T* p, T* ds) {
  for (std::int64_t j = 0; j < n; ++j) {
    double const x = std::exp(z[j] - lse), k = keep != nullptr ? keep[j] : 1.0;
    p[j] = x * k;
    ds[j] = x * (dp[j] * k - delta);
  }
  for (auto j = n; j < width; ++j) p[j] = ds[j] = 0;
}

template <int>
void threshold_lanes(std::uint32_t const* words, std::int64_t n, std::uint32_t dropped, double factor, double* to) {
  for (std::int64_t j = 0; j < n; ++j) to[j] = words[j] < dropped ? 0 : factor;
}

template <int, class T>
void scale_lanes(double const* from, double factor, std::int64_t n, T* to) {
  for (std::int64_t j = 0; j < n; ++j) to[j] = from[j] * factor;
}

template <int>
double dot_lanes(double const* a, double const* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace redco::kernel::cpu
