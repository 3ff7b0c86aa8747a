# Which metric is the loss: by its name, or as it is said; also in step records and in an export.
cat >metrics.csv <<'END'
epoch,loss_ce,lr-AdamW,step,train_loss,val_loss
0,5,,49,4.5,
,,0.001,49,,
0,4.5,,99,4,
0,,,99,,4.75
1,4,,149,3.5,
,,0.0005,149,,
1,3.5,,199,3,
1,,,199,,4.25
END
show() { sed -n '/● METRICS/,/^$/p; /● CONVERGENCE/,/^$/p; /  note/,/^$/p'; }
tscope report --full metrics.csv | show
tscope report --full --scalar loss=val_loss --scalar learning_rate=epoch metrics.csv | show
tscope report --full --scalar loss=validation metrics.csv | show
tscope export --quiet --scalar loss=loss_ce --out copy metrics.csv && cat copy/steps.jsonl
tscope report --full --scalar loss=train_loss copy | show
tscope diff --quiet metrics.csv copy
