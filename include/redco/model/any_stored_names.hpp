#pragma once

// How files name the parameters of every model that a config.json can describe.
#include <redco/model/stored_names/bart.hpp>
#include <redco/model/stored_names/bert.hpp>
#include <redco/model/stored_names/gpt2.hpp>
#include <redco/model/stored_names/gptj.hpp>
#include <redco/model/stored_names/llama.hpp>
#include <redco/model/stored_names/mistral.hpp>
#include <redco/model/stored_names/opt.hpp>
#include <redco/model/stored_names/qwen2.hpp>
#include <redco/model/stored_names/roberta.hpp>
#include <redco/model/stored_names/t5.hpp>
#include <redco/model/stored_names/vit.hpp>
