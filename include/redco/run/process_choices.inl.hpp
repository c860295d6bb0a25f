#pragma once

#include <redco/run/process_choices.hpp>

#include <redco/options/value_text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::run {

REDCO_INLINE comm::agreement opening_agreement(std::string program_digest, std::string const& torch,
                                               std::map<std::string, std::string> const& options) {
  comm::agreement opening("programs or options", start_alike);
  opening.add("the digest of the program's file", std::move(program_digest));
  opening.add("libtorch", torch.substr(std::min(torch.find("Build settings"), torch.size())));
  opening.add(options);
  return opening;
}

REDCO_INLINE comm::agreement agreement_of(process_choices const& chosen) {
  comm::agreement all("machines or environments", start_alike);
  all.add("mesh", options::to_text(chosen.mesh));
  all.add("device (--device)", c10::DeviceTypeName(chosen.device, true));
  all.add("dtype (--dtype)", std::string(name_of(chosen.compute)));
  all.add("REDCO_KERNELS", std::string(name_of(chosen.kernels)));
  all.add("bytes of a gradient bucket", std::to_string(chosen.gradient_bucket));
  all.add("overlap of messages between shards", chosen.overlaps_shards ? "on" : "off");
  if (!chosen.shards_span_processes) return all;
  all.add("threads of a rank (--threads)", std::to_string(chosen.threads));
  all.add("instruction set", chosen.instruction_set);
  all.add("REDCO_BF16_PRODUCTS", std::string(name_of(chosen.bf16_products)));
  return all;
}

}  // namespace redco::run
