#pragma once

#include <redco/run/planned.hpp>

#include <redco/report/check_mesh.hpp>
#include <redco/report/run_request.hpp>
#include <redco/config.hpp>

namespace redco::run {

REDCO_INLINE void check_widths(std::vector<fact::parameter_fact> const& parameters, mesh const& on,
                               deployer_options const& options, options::launch const& how) {
  report::run_request asked{.mesh = on, .hosts = how.processes, .form = report::request_form::model_shards};
  if (options.mesh) asked.form = report::request_form::mesh;
  else if (options.ranks || how.processes > 1) asked.form = report::request_form::ranks;
  report::check_mesh(parameters, asked, "processes");
}

}  // namespace redco::run
