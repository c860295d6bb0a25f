#pragma once

#include <redco/tensor/detail/cuda_graph_api.hpp>
#include <redco/tensor/detail/cuda_libraries.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/diag/error.hpp>

#include <redco/config.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

namespace redco::tensors::detail {

/// A device_graph (recorded device work) implemented by libtorch's at::cuda::CUDAGraph. libtorch's
/// allocator reserves the memory of the recorded work until the graph is destroyed.
class cuda_graph final : public device_graph {
 public:
  class maker final : public device_graph::maker {
   public:
    bool serves(at::Device device) const override { return device.is_cuda(); }
    std::unique_ptr<device_graph> make(at::Device device) const override {
      return std::make_unique<cuda_graph>(device);
    }
  };

  /// Creates an empty graph on `device`. Throws `error` with exit code 64 if libtorch's CUDA
  /// library lacks the graph functions that libtorch 2.11 has.
  explicit cuda_graph(at::Device device) : device_(device), calls_(functions::of_process()) {
    c10::DeviceGuard const on(device_);
    calls_.construct(storage_.data(), false);
  }

  ~cuda_graph() override {
    c10::DeviceGuard const on(device_);
    calls_.destroy(storage_.data());
  }

  /// Calls `f` and records its device work instead of running it. Uses a stream of libtorch's pool,
  /// because CUDA cannot record the default stream.
  void record(std::function<void()> f) override {
    auto const before = mark_on(device_);
    c10::StreamGuard const in(c10::impl::VirtualGuardImpl(device_.type()).getStreamFromGlobalPool(device_));
    follow_on(device_, before);
    calls_.capture_begin(storage_.data(), {0, 0}, cuda_graph_api::this_thread);
    try {
      f();
    } catch (...) {
      try {
        calls_.capture_end(storage_.data());
      } catch (...) {  // the first exception explains more
      }
      throw;
    }
    calls_.capture_end(storage_.data());
  }

  void replay() override {
    c10::DeviceGuard const on(device_);
    calls_.replay(storage_.data());
  }

 private:
  struct functions {
    cuda_graph_api::construct* construct;
    cuda_graph_api::destroy* destroy;
    cuda_graph_api::capture_begin* capture_begin;
    cuda_graph_api::capture_end* capture_end;
    cuda_graph_api::replay* replay;

    static functions const& of_process() {
      static functions const all = found();
      return all;
    }

   private:
    static functions found() {
      namespace api = cuda_graph_api;
      functions all{};
      auto const library = shared_library::open({"libtorch_cuda.so"}, RTLD_NOW | RTLD_GLOBAL);
      bool const whole =
          library && library.find(all.construct, api::construct_name) && library.find(all.destroy, api::destroy_name) &&
          library.find(all.capture_begin, api::capture_begin_name) &&
          library.find(all.capture_end, api::capture_end_name) && library.find(all.replay, api::replay_name);
      if (!whole)
        throw error(exit_code::usage,
                    "--cuda-graph: libtorch's CUDA library has no graphs as libtorch 2.11 has them: leave it out, or "
                    "install the torch wheel 2.11 (scripts/setup --cuda)");
      return all;
    }
  };

  at::Device device_;
  functions const& calls_;
  alignas(cuda_graph_api::alignment) std::array<std::byte, cuda_graph_api::size> storage_;
};

REDCO_INLINE device_graph::maker const& cuda_graph_maker() {
  static cuda_graph::maker const all;
  return all;
}

}  // namespace redco::tensors::detail
