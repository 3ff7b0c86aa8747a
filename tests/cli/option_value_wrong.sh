for option in --top=ten --top=-1 --threads=1.5 --format=xml --color=maybe --progress=always \
	--steps=5 --steps=5:3 --steps=a:b --block-size=0 --max-depth= --warmup=99999999999 \
	--output= --max-event-bytes=99999999999G; do
	tscope trace "$option" data/two_steps.json
	echo "$option: $?"
done
