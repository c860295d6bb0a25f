#pragma once

#include <redco/tensor/device.hpp>
#include <redco/options/deployer_options.hpp>

namespace redco::run {

/// Returns the devices that the options request, and applies the option --tf32. Throws `error` with
/// exit code 64 if the machine or the build cannot provide what the options request.
tensors::device_choice devices_for(deployer_options const& options);

/// Throws `error` with exit code 64 if an option excludes another option, or excludes the devices
/// `found` or the kernel set in use.
void check_device_options(deployer_options const& options, tensors::device_choice const& found);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/device_options.inl.hpp>
#endif
