#pragma once

#include <redco/tensor/torch.hpp>

#include <ATen/record_function.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

/// Counts the operators that libtorch's dispatcher runs, and the autograd nodes that backward runs,
/// in this process during its lifetime. At most one may exist at a time.
class operator_count {
 public:
  operator_count() : handle_(at::addGlobalCallback(at::RecordFunctionCallback(&operator_count::seen))) {
    std::lock_guard const lock(mutex());
    counts() = {};
  }
  ~operator_count() { at::removeCallback(handle_); }
  operator_count(operator_count const&) = delete;
  operator_count& operator=(operator_count const&) = delete;

  struct totals {
    std::map<std::string, int> operators, nodes;  ///< by name
  };
  totals all() const {
    std::lock_guard const lock(mutex());
    return counts();
  }
  int operators() const { return sum(all().operators); }
  int nodes() const { return sum(all().nodes); }

 private:
  static std::unique_ptr<at::ObserverContext> seen(at::RecordFunction const& f) {
    std::lock_guard const lock(mutex());
    std::string const name = f.name();
    // Start of a backward pass with several roots
    if (name == "torch::autograd::GraphRoot") return nullptr;
    if (f.scope() == at::RecordScope::BACKWARD_FUNCTION) ++counts().nodes[name];
    else if (f.scope() == at::RecordScope::FUNCTION && name.starts_with("aten::")) ++counts().operators[name];
    return nullptr;
  }
  static int sum(std::map<std::string, int> const& all) {
    int total = 0;
    for (auto const& [name, count] : all) total += count;
    return total;
  }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static totals& counts() {
    static totals one;
    return one;
  }

  at::CallbackHandle handle_;
};
