tscope trace --full --quiet --flops-per-step 1e12 --fail-on 'mfu<0.35' data/chrome_phases.json
