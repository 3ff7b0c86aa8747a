tscope memory --full data/fsdp_mem_rank_0_training_step_1.log
