#pragma once

// Includes all of redco: planning without libtorch, then tensors, ranks, kernels, decoding and
// training.
#include <redco/plan.hpp>

#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/compiled_kernels.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/device_streams.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/flat_zeros.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/kernel_prelude.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/key_store.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/process_choice.hpp>
#include <redco/tensor/rank_environment.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/upload.hpp>

#include <redco/comm/agreement.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/comm/wait_policy.hpp>

#include <redco/kernel/activations.hpp>
#include <redco/kernel/attention.hpp>
#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/dropout.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/kernel/recurrent.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/optimizer/privacy.hpp>

#include <redco/update/any_optimizer.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/matrix.hpp>
#include <redco/update/parameter_settings.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/update.hpp>

#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/load_weights.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/ckpt/save_model_with.hpp>
#include <redco/ckpt/state_part.hpp>

#include <redco/nn/builder.hpp>
#include <redco/nn/check_saved.hpp>
#include <redco/nn/context.hpp>
#include <redco/nn/context_entries.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/example_norms.hpp>
#include <redco/nn/families.hpp>
#include <redco/nn/gradient_watch.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/network_arguments.hpp>
#include <redco/nn/nn.hpp>
#include <redco/nn/norms.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/pending_sum.hpp>
#include <redco/nn/recomputed.hpp>
#include <redco/nn/recurrent.hpp>
#include <redco/nn/watches.hpp>

#include <redco/generate/beam_search.hpp>
#include <redco/generate/decoding.hpp>
#include <redco/generate/generate.hpp>

#include <redco/text/batches.hpp>
#include <redco/text/decoded_rows.hpp>

#include <redco/run/compare_updates.hpp>
#include <redco/run/deployer.hpp>
#include <redco/run/evaluation.hpp>
#include <redco/run/evaluation_values.hpp>
#include <redco/run/example_digest.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/fit_loop.hpp>
#include <redco/run/fit_result.hpp>
#include <redco/run/fit_runner.hpp>
#include <redco/run/fit_work.hpp>
#include <redco/run/gradient_buckets.hpp>
#include <redco/run/load_weights.hpp>
#include <redco/run/loop_record.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/pipeline_job.hpp>
#include <redco/run/planned.hpp>
#include <redco/run/prediction.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/process_choices.hpp>
#include <redco/run/run_output.hpp>
#include <redco/run/run_state.hpp>
#include <redco/run/step.hpp>
#include <redco/run/step_work.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/trainer.hpp>
#include <redco/run/training_step.hpp>
#include <redco/run/verified_fit.hpp>
#include <redco/run/verified_loop.hpp>
#include <redco/run/verify.hpp>
#include <redco/run/verify_records.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/run/worker.hpp>

#include <redco/adapt/adapting.hpp>
#include <redco/adapt/low_rank.hpp>
#include <redco/adapt/merged.hpp>
#include <redco/adapt/plan/target_words.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <redco/pretrained/image_processor.hpp>
#include <redco/pretrained.hpp>
#include <redco/train.hpp>
