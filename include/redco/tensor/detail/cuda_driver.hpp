#pragma once

#include <redco/tensor/detail/shared_library.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <utility>

namespace redco::detail {

/// The functions of CUDA's driver that are used, as its manual declares them; handles are void*.
struct cuda_driver {
  static constexpr int compute_major = 75, compute_minor = 76;  // device attributes

  int (*init)(unsigned);
  int (*device_get)(int*, int);
  int (*attribute)(int*, int, int);
  int (*retain_context)(void**, int);
  int (*push_context)(void*);
  int (*pop_context)(void**);
  int (*load_module)(void**, void const*);
  int (*find_function)(void**, void*, char const*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
  int (*words)(int, char const**);

  /// Opens it, once for the process. Errors: exit code 64.
  static cuda_driver const& of_process() {
    static cuda_driver const driver = opened();
    return driver;
  }

  /// Of a device: {9, 0} for an H100.
  std::pair<int, int> compute_capability(int index) const {
    int handle = 0, major = 0, minor = 0;
    check(device_get(&handle, index), "find device " + std::to_string(index));
    check(attribute(&major, compute_major, handle), "ask for the device's kind");
    check(attribute(&minor, compute_minor, handle), "ask for the device's kind");
    return {major, minor};
  }

  /// Throws error 70 with the driver's words unless `status` is that of success.
  void check(int status, std::string const& what) const {
    if (status == 0) return;
    char const* text = nullptr;
    if (words(status, &text) != 0 || text == nullptr) text = "unknown";
    throw error(exit_code::internal, "CUDA: " + what + ": " + text + " (" + std::to_string(status) + ")");
  }

 private:
  static cuda_driver opened() {
    cuda_driver d{};
    auto const library = shared_library::open({"libcuda.so.1"});
    if (!library)
      throw error(exit_code::usage, "CUDA's driver is not here (" + library.why() + "): install NVIDIA's driver");
    bool const all =
        library.find(d.init, "cuInit") && library.find(d.device_get, "cuDeviceGet") &&
        library.find(d.attribute, "cuDeviceGetAttribute") &&
        library.find(d.retain_context, "cuDevicePrimaryCtxRetain") &&
        library.find(d.push_context, "cuCtxPushCurrent_v2") && library.find(d.pop_context, "cuCtxPopCurrent_v2") &&
        library.find(d.load_module, "cuModuleLoadData") && library.find(d.find_function, "cuModuleGetFunction") &&
        library.find(d.launch, "cuLaunchKernel") && library.find(d.words, "cuGetErrorString");
    if (!all) throw error(exit_code::usage, "CUDA's driver is older than CUDA 7: install a newer one");
    d.check(d.init(0), "start");
    return d;
  }
};

/// Makes a context the calling thread's while it lives.
class cuda_context_guard {
 public:
  cuda_context_guard(cuda_driver const& driver, void* context) : driver_(driver) {
    driver_.check(driver_.push_context(context), "enter a device's context");
  }
  ~cuda_context_guard() {
    void* left = nullptr;
    driver_.pop_context(&left);
  }
  cuda_context_guard(cuda_context_guard const&) = delete;
  cuda_context_guard& operator=(cuda_context_guard const&) = delete;

 private:
  cuda_driver const& driver_;
};

}  // namespace redco::detail
