#pragma once

#include <redco/tensor/kernel_launcher.hpp>

namespace redco::kernel::cuda {

/// CUDA kernels of the activations x gate(x), of swiglu, and of their gradients. `form` in the text
/// is the number of an activation: a gelu_form, or 3 for silu.
inline constexpr tensors::kernel_source activation_source{"activation", R"cuda(
__device__ inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// A gate of an activation and its derivative with respect to x.
struct gate {
  float value, slope;
};

__device__ inline gate tanh_gate(float x) {
  float const steep = 1.5957691216057308f, cube = 0.044715f;
  // For x above 10 or below -10 the gate is 1 or 0 in f32.
  float const near = x > 10 ? 10.0f : x < -10 ? -10.0f : x, square = near * near;
  float const s = sigmoid(steep * near * (1 + cube * square));
  return {s, s * (1 - s) * steep * (1 + 3 * cube * square)};
}

__device__ inline gate normal_gate(float x) {
  return {0.5f * erfcf(-0.7071067811865476f * x), 0.3989422804014327f * expf(-0.5f * x * x)};
}

__device__ inline gate sigmoid_gate(float x, float steep) {
  float const s = sigmoid(steep * x);
  return {s, steep * s * (1 - s)};
}

__device__ inline gate gate_of(float x, int form) {
  switch (form) {
    case 0: return tanh_gate(x);
    case 1: return normal_gate(x);
    case 2: return sigmoid_gate(x, 1.702f);
    default: return sigmoid_gate(x, 1);
  }
}

REDCO_ENTRY void activation(element const* x, element* y, i64 n, int form) {
  for (i64 i = first_of_grid(); i < n; i += size_of_grid()) put(y[i], wide(x[i]) * gate_of(wide(x[i]), form).value);
}

REDCO_ENTRY void activation_gradient(element const* x, element const* g, element* dx, i64 n, int form) {
  for (i64 i = first_of_grid(); i < n; i += size_of_grid()) {
    gate const at = gate_of(wide(x[i]), form);
    put(dx[i], wide(g[i]) * (at.value + wide(x[i]) * at.slope));
  }
}

// Computes y [rows, n] = silu(gate) * up. `both` is [rows, 2 n]: the n columns of gate, then those
// of up.
REDCO_ENTRY void swiglu_rows(element const* both, element* y, i64 rows, i64 n) {
  for (i64 i = first_of_grid(); i < rows * n; i += size_of_grid()) {
    element const* const row = both + i / n * 2 * n + i % n;
    put(y[i], wide(row[0]) * sigmoid(wide(row[0])) * wide(row[n]));
  }
}

REDCO_ENTRY void swiglu_gradient(element const* both, element const* g, element* dboth, i64 rows, i64 n) {
  for (i64 i = first_of_grid(); i < rows * n; i += size_of_grid()) {
    i64 const at = i / n * 2 * n + i % n;
    float const x = wide(both[at]), up = wide(both[at + n]), s = sigmoid(x);
    put(dboth[at], wide(g[i]) * up * (s + x * s * (1 - s)));
    put(dboth[at + n], wide(g[i]) * (x * s));
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
