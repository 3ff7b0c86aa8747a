# An event loop that waits, and threads that sleep longer: the first line is about the main thread.
python3 - <<'END'
import json
def write(path, *spans):
    events = [dict(ph="X", cat="FEE", name=name, pid=9, tid=tid, ts=ts, dur=dur)
              for name, tid, ts, dur in spans]
    with open(path, "w") as out:
        json.dump(dict(traceEvents=events, viztracer_metadata=dict(version="1.0")), out)
write("loop.json", ("run (/usr/lib/python3.12/asyncio/runners.py:160)", 9, 0, 1000),
      ("select.epoll.poll", 9, 10, 840), ("handle (/job/serve.py:7)", 9, 860, 100))
write("threads.json", ("Thread.join (/usr/lib/python3.12/threading.py:1115)", 9, 0, 1000),
      ("_thread.lock.acquire", 9, 10, 990), ("work (/job/work.py:3)", 8, 0, 980),
      ("time.sleep", 8, 10, 900), ("time.sleep", 7, 0, 900))
END
for file in loop threads; do
    tscope trace $file.json | sed -n 4,7p
done
