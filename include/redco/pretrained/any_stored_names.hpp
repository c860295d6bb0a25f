#pragma once

// Includes the tables of tensor names in files (`stored_names`) of every model family that a
// config.json can describe.
#include <redco/pretrained/stored_names/bart.hpp>
#include <redco/pretrained/stored_names/bert.hpp>
#include <redco/pretrained/stored_names/gemma.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/pretrained/stored_names/llama.hpp>
#include <redco/pretrained/stored_names/opt.hpp>
#include <redco/pretrained/stored_names/roberta.hpp>
#include <redco/pretrained/stored_names/t5.hpp>
#include <redco/pretrained/stored_names/vision_encoder_decoder.hpp>
#include <redco/pretrained/stored_names/vit.hpp>
