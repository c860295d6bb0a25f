// Compares tensor/detail/cuda_graph_api.hpp with libtorch's header of at::cuda::CUDAGraph, at
// compile time.

#include <redco/tensor/detail/cuda_graph_api.hpp>

#include <ATen/cuda/CUDAGraph.h>

#include <type_traits>

namespace ours = redco::tensors::detail::cuda_graph_api;
using theirs = at::cuda::CUDAGraph;

static_assert(sizeof(theirs) <= ours::size && alignof(theirs) <= ours::alignment);
static_assert(std::is_constructible_v<theirs, bool> && !std::is_polymorphic_v<theirs>);
static_assert(std::is_same_v<ours::pool, c10::MempoolId_t>);
static_assert(std::is_same_v<decltype(&theirs::capture_begin), void (theirs::*)(ours::pool, cudaStreamCaptureMode)>);
static_assert(sizeof(cudaStreamCaptureMode) == sizeof(int) && ours::this_thread == cudaStreamCaptureModeThreadLocal);
static_assert(std::is_same_v<decltype(&theirs::capture_end), void (theirs::*)()>);
static_assert(std::is_same_v<decltype(&theirs::replay), void (theirs::*)()>);
