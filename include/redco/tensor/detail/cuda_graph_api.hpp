#pragma once

#include <cstddef>
#include <utility>

namespace redco::tensors::detail::cuda_graph_api {

// Declares at::cuda::CUDAGraph without its header, which needs CUDA's own headers. The members are
// found by their mangled names (Itanium C++ ABI, where `this` is the first argument).

/// Size and alignment in bytes of the memory in which redco constructs an at::cuda::CUDAGraph. The
/// test tests/tensor/cuda_graph_header.cpp compares these numbers and the signatures below with
/// libtorch's header.
inline constexpr std::size_t size = 512, alignment = 16;

using pool = std::pair<unsigned long long, unsigned long long>;

/// Value of cudaStreamCaptureModeThreadLocal, CUDA's capture mode in which other threads may
/// allocate device memory during the capture.
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

}  // namespace redco::tensors::detail::cuda_graph_api
