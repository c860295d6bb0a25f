#pragma once

// The options of the program in docs/pretrained.md that trains a Hugging Face folder.

#include <redco/options/deployer_options.hpp>
#include <redco/meta/fields.hpp>

#include <string>
#include <vector>

struct my_options {
  redco::deployer_options deployer;
  std::string model;
  std::vector<std::string> text;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(redco::field<"deployer">(&o::deployer, "where to run"),
                         redco::required_field<"model">(&o::model, "a Hugging Face folder"),
                         redco::required_field<"text">(&o::text, "files or folders to learn"));
  }
};
