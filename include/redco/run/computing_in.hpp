#pragma once

#include <redco/shape/dtype.hpp>
#include <redco/config.hpp>

namespace redco {
class deployer;
}

namespace redco::run {

/// A period in which networks of a deployer compute in another dtype, for --verify: the lifetime of
/// the object. Make and destroy it while no rank runs.
class computing_in {
 public:
  computing_in(deployer& where, dtype type);
  computing_in(computing_in const&) = delete;
  computing_in& operator=(computing_in const&) = delete;
  ~computing_in();

 private:
  deployer& where_;
  dtype before_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/computing_in.inl.hpp>
#endif
