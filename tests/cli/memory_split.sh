# A snapshot in which a third of the reserved memory lies idle beside blocks in use.
python3 - > split.json <<'END'
import json
MIB = 1 << 20
def block(mib, state):
    size = mib * MIB
    return {"size": size, "requested_size": size, "state": state, "frames": []}
segments = [{"device": 0, "address": (number + 1) << 32, "total_size": 600 * MIB, "stream": 0,
             "allocated_size": 400 * MIB, "active_size": 400 * MIB, "segment_type": "large",
             "blocks": [block(200, "active_allocated"), block(200, "inactive"),
                        block(200, "active_allocated")]} for number in range(4)]
print(json.dumps({"segments": segments, "device_traces": [], "allocator_settings": {}}))
END
tscope memory split.json
