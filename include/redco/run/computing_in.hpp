#pragma once

#include <redco/run/deployer.hpp>
#include <redco/shape/dtype.hpp>

#include <utility>

namespace redco::run {

/// A period in which networks of a deployer compute in another dtype, for --verify: the lifetime of
/// the object. Make and destroy it while no rank runs.
class computing_in {
 public:
  computing_in(deployer& where, dtype type) : where_(where), before_(std::exchange(where.dtype_.compute, type)) {}
  computing_in(computing_in const&) = delete;
  computing_in& operator=(computing_in const&) = delete;
  ~computing_in() { where_.dtype_.compute = before_; }

 private:
  deployer& where_;
  dtype before_;
};

}  // namespace redco::run
