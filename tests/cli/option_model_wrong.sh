for model in '' llama:layers=3 gpt gpt:layer=3 gpt:layers=3,num_layers=3 gpt:layers=3.5 \
	gpt:layers=0 gpt:layers=1e999 gpt:swiglu=maybe gpt:layers=3; do
	tscope trace --model "$model" no_such_file
	echo "$model: $?"
done
