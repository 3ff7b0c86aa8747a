# Step records of ranks, and what rules say of them: work that differs from rank to rank and step to
# step; a loader that is late on another rank each time; a rank that stalls in three steps; and
# communication, slow steps, a loss that stays and FLOPs that are those of all ranks.
python3 - <<'END'
import json, os
def write(folder, rank, world, steps):
    os.makedirs(f"{folder}/rank{rank}", exist_ok=True)
    with open(f"{folder}/rank{rank}/meta.json", "w") as file:
        json.dump({"name": folder, "rank": rank, "world_size": world}, file)
    with open(f"{folder}/rank{rank}/steps.jsonl", "w") as file:
        for number, (phases, scalars) in enumerate(steps):
            times = {name: ms / 1e3 for name, ms in phases.items()}
            file.write(json.dumps({"step": number, "phases": times, "scalars": scalars}) + "\n")
def uneven(rank):
    for step in range(60):
        late = step % 4 == rank
        yield {"forward": 140 if late else 100, "comm": 5 if late else 45}, {}
def bound(rank):
    for step in range(60):
        slow = 3 if step % 8 == 5 else 1
        yield ({"forward": 60 * slow, "comm": 45 * slow},
               {"loss": 2 + 0.001 * (step * 7 % 5)})
def waits(rank):
    for step in range(60):
        yield {"data": 40 if rank == step % 3 else 1, "forward": 60, "comm": 1 if rank == step % 3 else 40}, {}
def stalls(rank):
    for step in range(50):
        stall = 310 if rank == 5 and step in (7, 21, 40) else 0
        late = 310 if step in (7, 21, 40) and not stall else 0
        yield {"forward": 100 + (step * 7 + rank * 3) % 5 + stall, "comm": 10 + late}, {}
for folder, ranks, steps in (("uneven", 4, uneven), ("bound", 4, bound), ("waits", 4, waits), ("stalls", 8, stalls)):
    for rank in range(ranks):
        write(folder, rank, ranks, steps(rank))
END
for folder in uneven waits stalls; do tscope report $folder | sed -n "/^  [A-Z]/,/^  more/p"; done
tscope report --flops-per-step 4e14 --peak-tflops 989 bound | sed -n "/^  [A-Z]/,/^  more/p"
