#pragma once

#include <redco/tensor/torch.hpp>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <dlfcn.h>

namespace redco::detail {

/// The folder of the libtorch that this process runs.
inline std::filesystem::path libtorch_folder() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void const*>(&at::globalContext), &found) == 0 || found.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(found.dli_fname, ignored).parent_path();
}

/// A library that is opened at run time and stays.
class shared_library {
 public:
  /// The first of these names or paths that opens; see `why` where none does. Names are looked for where the loader looks,
  /// then beside libtorch, in the folders of NVIDIA's wheels, and where CUDA's own installer puts them.
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

  /// What the loader said last.
  std::string const& why() const { return why_; }

  /// Sets f to the function of this name, null where there is none.
  template <class F>
  bool find(F*& f, char const* name) const {
    f = reinterpret_cast<F*>(dlsym(handle_, name));
    return f != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string why_;
};

}  // namespace redco::detail
