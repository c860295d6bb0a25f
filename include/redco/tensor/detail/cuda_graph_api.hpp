#pragma once

#include <cstddef>
#include <utility>

namespace redco::detail::cuda_graph_api {

// at::cuda::CUDAGraph of libtorch's CUDA library, whose header needs CUDA's own. The class is taken by the names that its members
// have in the library (Itanium C++ ABI, where `this` is the first argument).

/// Room for one: tests/tensor/cuda_graph_header.cpp compares it, and the signatures, with the header.
inline constexpr std::size_t size = 512, alignment = 16;

using pool = std::pair<unsigned long long, unsigned long long>;

/// cudaStreamCaptureModeThreadLocal: other threads may go on allocating.
inline constexpr int this_thread = 1;

using construct = void(void* self, bool keep);
using destroy = void(void* self);
using capture_begin = void(void* self, pool memory, int mode);
using capture_end = void(void* self);
using replay = void(void* self);

inline constexpr char const* const construct_name = "_ZN2at4cuda9CUDAGraphC1Eb";
inline constexpr char const* const destroy_name = "_ZN2at4cuda9CUDAGraphD1Ev";
inline constexpr char const* const capture_begin_name =
    "_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode";
inline constexpr char const* const capture_end_name = "_ZN2at4cuda9CUDAGraph11capture_endEv";
inline constexpr char const* const replay_name = "_ZN2at4cuda9CUDAGraph6replayEv";

}  // namespace redco::detail::cuda_graph_api
