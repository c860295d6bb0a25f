#pragma once

namespace redco::tensors {

/// CUDA C++ text that is compiled before the text of each kernel_source. It defines fixed-size
/// integers, bf16 stored as bits, loops over a grid, sums and maxima over a block, and the Philox
/// generator of random/philox.hpp.
inline constexpr char kernel_prelude[] = R"cuda(
#ifndef REDCO_ENTRY
#define REDCO_ENTRY extern "C" __global__
#endif

typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;

struct bf16 {
  unsigned short bits;
};

__device__ inline float wide(float x) { return x; }
__device__ inline float wide(bf16 x) { return __uint_as_float(static_cast<u32>(x.bits) << 16); }

__device__ inline void put(float& to, float x) { to = x; }

// Rounds to the nearest bf16, ties to even. NaN becomes 0x7FC0, as in ATen.
__device__ inline void put(bf16& to, float x) {
  u32 const bits = __float_as_uint(x);
  to.bits = x != x ? 0x7FC0 : static_cast<unsigned short>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// The calling thread processes the elements first_of_grid(), first_of_grid() + size_of_grid(), and
// so on.
__device__ inline i64 first_of_grid() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline i64 size_of_grid() { return static_cast<i64>(gridDim.x) * blockDim.x; }

struct sum_of_two {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct larger_of_two {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

// Combines the values x of all threads of a thread block by `both`, and returns the result to each
// of them. Called by all threads of the block together; a block has at most 1024 threads.
template <class Both>
__device__ float over_block(float x, Both both) {
  __shared__ float part[1024];
  u32 const me = threadIdx.x;
  part[me] = x;
  __syncthreads();
  u32 half = 1;
  while (2 * half < blockDim.x) half *= 2;
  for (; half > 0; half /= 2) {
    if (me < half && me + half < blockDim.x) part[me] = both(part[me], part[me + half]);
    __syncthreads();
  }
  float const all = part[0];
  __syncthreads();  // the next call may write to `part` only after all threads have read it
  return all;
}

__device__ inline float sum_of_block(float x) { return over_block(x, sum_of_two()); }
__device__ inline float largest_of_block(float x) { return over_block(x, larger_of_two()); }

struct four_words {
  u32 at[4];
};

// Returns four random words of the counter-based generator Philox4x32-10 (Salmon, Moraes, Dror and
// Shaw, SC 2011) for the counter c0 to c3 and the key k0, k1.
__device__ inline four_words philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
  for (int round = 0; round < 10; ++round) {
    u64 const a = static_cast<u64>(0xD2511F53u) * c0, b = static_cast<u64>(0xCD9E8D57u) * c2;
    c0 = static_cast<u32>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<u32>(b);
    c2 = static_cast<u32>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<u32>(a);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}
)cuda";

}  // namespace redco::tensors
