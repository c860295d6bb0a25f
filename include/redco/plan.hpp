#pragma once

// Includes everything that needs no torch: layers, rules, plans, costs, reports, tokenizers,
// options, logs.
#include <redco/config.hpp>

#include <redco/meta/aggregate.hpp>
#include <redco/meta/enum_texts.hpp>
#include <redco/meta/field_count.hpp>
#include <redco/meta/fields.hpp>
#include <redco/meta/fixed_string.hpp>
#include <redco/meta/for_each_shared.hpp>
#include <redco/meta/glob.hpp>
#include <redco/meta/hexadecimal.hpp>
#include <redco/meta/nearest.hpp>
#include <redco/meta/signature.hpp>
#include <redco/meta/tuple.hpp>
#include <redco/meta/type_name.hpp>
#include <redco/meta/utf8.hpp>

#include <redco/diag/blame.hpp>
#include <redco/diag/code.hpp>
#include <redco/diag/crash_report.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/exit_code_of.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/diag/outcomes.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/diag/signals.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/layout.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/pieces.hpp>
#include <redco/shape/place.hpp>
#include <redco/shape/short_text.hpp>
#include <redco/shape/traffic.hpp>
#include <redco/shape/zero.hpp>

#include <redco/json/dump.hpp>
#include <redco/json/limits.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/json/value_fwd.hpp>

#include <redco/random/normal.hpp>
#include <redco/random/philox.hpp>
#include <redco/random/random_words.hpp>
#include <redco/random/stream.hpp>
#include <redco/random/uniform.hpp>

#include <redco/metrics/bleu.hpp>
#include <redco/metrics/correlation.hpp>
#include <redco/metrics/exact_match.hpp>
#include <redco/metrics/perplexity.hpp>
#include <redco/metrics/rouge_l.hpp>
#include <redco/metrics/rouge_n.hpp>
#include <redco/metrics/scores.hpp>

#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <redco/pipeline/collate_info.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/pipeline/pipeline.hpp>
#include <redco/pipeline/results.hpp>

#include <redco/tokenizer/invalid_utf8.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/tokenizer/sentencepiece_tokenizer.hpp>
#include <redco/tokenizer/text_stream.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/differences.hpp>
#include <redco/safetensors/file_dtype.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <redco/log/console.hpp>
#include <redco/log/event_writer.hpp>
#include <redco/log/metrics_log.hpp>
#include <redco/log/progress.hpp>
#include <redco/log/run_log.hpp>

#include <redco/fact/block_slices.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/fact/side_products.hpp>
#include <redco/fact/stage_of.hpp>

#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/block_pattern.hpp>
#include <redco/layer/block_set.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/opaque.hpp>
#include <redco/layer/pools.hpp>
#include <redco/layer/recurrent.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/sparse_traits.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/with_distance_bias.hpp>
#include <redco/layer/wrappers.hpp>

#include <redco/data/batches.hpp>
#include <redco/data/examples.hpp>
#include <redco/data/images.hpp>
#include <redco/data/jsonl_index.hpp>
#include <redco/data/mixture.hpp>
#include <redco/data/prepared_batch.hpp>
#include <redco/data/read_idx.hpp>
#include <redco/data/read_table.hpp>
#include <redco/data/read_texts.hpp>
#include <redco/data/sampler.hpp>
#include <redco/data/table.hpp>
#include <redco/data/token_file.hpp>
#include <redco/data/token_writer.hpp>
#include <redco/data/tokenize_files.hpp>
#include <redco/data/views.hpp>

#include <redco/model/any_model.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/mgpt.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/model/t5.hpp>

#include <redco/options/choices.hpp>
#include <redco/options/chosen_dtype.hpp>
#include <redco/options/command_line.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/resolved.hpp>
#include <redco/options/row.hpp>
#include <redco/options/value_text.hpp>

#include <redco/shard/entry.hpp>
#include <redco/shard/facts.hpp>
#include <redco/shard/families.hpp>
#include <redco/shard/keep_replicated.hpp>
#include <redco/shard/legal.hpp>
#include <redco/shard/plan.hpp>

#include <redco/pretrained/any_stored_names.hpp>
#include <redco/pretrained/decoding_flags.hpp>
#include <redco/pretrained/from_config/bert.hpp>
#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/families.hpp>
#include <redco/pretrained/from_config/gpt2.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/pretrained/generate_options.hpp>
#include <redco/pretrained/generation_config.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/pretrained/stored_part.hpp>
#include <redco/pretrained/weights_folder.hpp>

#include <redco/workdir/best_metrics.hpp>
#include <redco/workdir/changed_settings.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/checkpoint_room.hpp>
#include <redco/workdir/checkpoint_store.hpp>
#include <redco/workdir/failure_history.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/workdir/part_holders.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/repair_checkpoints.hpp>
#include <redco/workdir/run_config.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/workdir/workdir_lock.hpp>
#include <redco/workdir/write_manifest.hpp>

#include <redco/cost/checks.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/fits.hpp>
#include <redco/cost/layout_moves.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/memory.hpp>
#include <redco/cost/memory_of.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/operations.hpp>
#include <redco/cost/saved_slots.hpp>
#include <redco/cost/search.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/cost/step_time.hpp>

#include <redco/schedule/check_step.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_text.hpp>
#include <redco/schedule/pipeline_time.hpp>
#include <redco/schedule/step_of.hpp>

#include <redco/report/answer_text.hpp>
#include <redco/report/answered_report.hpp>
#include <redco/report/build_report.hpp>
#include <redco/report/model_graph.hpp>
#include <redco/report/pictures/confusion_matrix.hpp>
#include <redco/report/pictures/contact_sheet.hpp>
#include <redco/report/pictures/curves.hpp>
#include <redco/report/pictures/pipeline_picture.hpp>
#include <redco/report/program_text.hpp>
#include <redco/report/report_answer.hpp>
#include <redco/report/report_format.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/run_page.hpp>
#include <redco/report/run_request.hpp>
#include <redco/report/search_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/stage_timeline.hpp>
#include <redco/report/step_memory.hpp>

#include <redco/compat/compat_plan.hpp>
#include <redco/compat/compat_split.hpp>

#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/adapter_location.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>
#include <redco/adapt/plan/with_lora.hpp>
