#pragma once

#include <redco/tensor/torch.hpp>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <dlfcn.h>

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

}  // namespace redco::tensors::detail
