#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::tensors::detail {

/// Returns the folder of the libtorch library that this process has loaded. Empty if unknown.
inline std::filesystem::path libtorch_folder() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void const*>(&at::globalContext), &found) == 0 || found.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(found.dli_fname, ignored).parent_path();
}

/// A shared library that is opened at run time (dlopen) and never closed.
class shared_library {
 public:
  /// Opens the first library of `names` (names or paths) that loads. Searches the loader's default
  /// folders, libtorch's folder, the folders of NVIDIA's wheels, and /usr/local/cuda/lib64, in this
  /// order. If none loads, the result converts to false and its why() returns the reason.
  static shared_library open(std::vector<std::string> const& names, int how = RTLD_NOW | RTLD_LOCAL) {
    shared_library library;
    auto const torch = libtorch_folder(), wheels = torch / "../../nvidia";
    for (std::filesystem::path const& folder :
         {std::filesystem::path(), torch, wheels / "cu13/lib", wheels / "cuda_nvrtc/lib",
          std::filesystem::path("/usr/local/cuda/lib64")}) {
      for (std::string const& name : names) {
        std::filesystem::path const path = folder / name;
        if (!folder.empty() && !std::filesystem::exists(path)) continue;
        library.handle_ = dlopen(path.c_str(), how);
        if (library.handle_ != nullptr) return library;
        library.why_ = dlerror();
      }
    }
    return library;
  }

  explicit operator bool() const { return handle_ != nullptr; }

  /// Returns the loader's message about the last library that could not be opened.
  std::string const& why() const { return why_; }

  /// Sets `f` to the address of the function `name` in this library, or to null if there is none.
  /// Returns true if the function exists.
  template <class F>
  bool find(F*& f, char const* name) const {
    f = reinterpret_cast<F*>(dlsym(handle_, name));
    return f != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string why_;
};

/// A table of pointers to the CUDA driver functions that redco calls. Signatures are those of the
/// driver's manual, with void* for handles.
struct cuda_driver {
  static constexpr int compute_major = 75, compute_minor = 76;  // ids of device attributes

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

  /// Returns the table of CUDA driver functions. The first call opens and initialises the driver.
  /// Throws `error` with exit code 64 if the driver is missing or older than CUDA 7.
  static cuda_driver const& of_process() {
    static cuda_driver const driver = opened();
    return driver;
  }

  /// Returns the compute capability of a device as {major, minor}: {9, 0} for an H100.
  std::pair<int, int> compute_capability(int index) const {
    int handle = 0, major = 0, minor = 0;
    check(device_get(&handle, index), "find device " + std::to_string(index));
    check(attribute(&major, compute_major, handle), "ask for the device's kind");
    check(attribute(&minor, compute_minor, handle), "ask for the device's kind");
    return {major, minor};
  }

  /// Throws `error` with exit code 70 and the driver's message if `status`, the result of a driver
  /// function, is not 0 (success). `operation` is its name in the message.
  void check(int status, std::string const& operation) const {
    if (status == 0) return;
    char const* text = nullptr;
    if (words(status, &text) != 0 || text == nullptr) text = "unknown";
    throw error(exit_code::internal, "CUDA: " + operation + ": " + text + " (" + std::to_string(status) + ")");
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

/// A scope that makes a CUDA context current for the calling thread.
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

}  // namespace redco::tensors::detail
