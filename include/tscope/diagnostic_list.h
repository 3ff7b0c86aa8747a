/* SPDX-License-Identifier: MIT */
/*
 * Everything that can be odd about a trace, one line each. No include guard:
 * this list is included wherever one of its columns is needed.
 *
 * DIAGNOSTIC(id, effect, text)
 *   id      stable; the key in JSON
 *   effect  DROPPED   the event is lost to every figure
 *           REPAIRED  read all the same, by a rule of the manual
 *           NOTED     nothing was changed, but a figure may suffer
 *   text    what is counted, as "12 <text>"
 *
 * The JSON text: counted while decoding.
 */
DIAGNOSTIC(not_an_object, DROPPED, "elements of traceEvents are no objects")
DIAGNOSTIC(empty_event, DROPPED, "events without any field")
DIAGNOSTIC(malformed_event, DROPPED, "events are not JSON and could not be repaired")
DIAGNOSTIC(missing_phase, DROPPED, "events have no phase (ph)")
DIAGNOSTIC(unknown_phase, DROPPED, "events have a phase (ph) that no format knows")
DIAGNOSTIC(missing_timestamp, DROPPED, "events have no timestamp (ts)")
DIAGNOSTIC(bad_timestamp, DROPPED, "events have a timestamp or duration that is no number")
DIAGNOSTIC(missing_duration, DROPPED, "complete events have no duration (dur, tdur)")
DIAGNOSTIC(negative_duration, REPAIRED, "negative durations were read as 0")
DIAGNOSTIC(unescaped_quote, REPAIRED, "events have unescaped quotes in a string")
DIAGNOSTIC(control_character, REPAIRED, "events have raw control characters in a string")
DIAGNOSTIC(bad_escape, REPAIRED, "names have a backslash that escapes nothing")
DIAGNOSTIC(invalid_utf8, REPAIRED, "names are not UTF-8")
DIAGNOSTIC(bare_word, REPAIRED, "values are bare words such as N/A, NaN or inf")
DIAGNOSTIC(trailing_comma, REPAIRED, "commas are followed by no value")
DIAGNOSTIC(missing_comma, REPAIRED, "commas are missing between events")
DIAGNOSTIC(duplicate_key, REPAIRED, "events have a field twice; the last one was taken")
DIAGNOSTIC(malformed_metadata, NOTED, "top-level values are not JSON; skipped")
DIAGNOSTIC(long_metadata, NOTED, "top-level values are longer than a megabyte; skipped")
DIAGNOSTIC(unclosed_json, NOTED, "brackets are open at the end of the input")
DIAGNOSTIC(trailing_bytes, NOTED, "bytes follow the end of the trace")
/* The events: counted while the model is built. */
DIAGNOSTIC(unmatched_end, DROPPED, "end events (E) have no begin event (B)")
DIAGNOSTIC(unmatched_begin, REPAIRED, "begin events (B) never end; closed at the end of the trace")
DIAGNOSTIC(cut_begin, NOTED, "end events (E) of what began before the trace")
DIAGNOSTIC(unread_annotations, NOTED, "files with modules of graphs' kernels could not be read")
DIAGNOSTIC(unkept_operator, DROPPED, "operators were not kept: memory limit")
DIAGNOSTIC(other_process, NOTED, "further processes or ranks: figures mix them")
DIAGNOSTIC(moved_clock, REPAIRED, "events of torch were moved to Composer's clock")
DIAGNOSTIC(ring_buffer_overflow, NOTED,
	   "ring buffers of VizTracer overflowed: the oldest calls are lost")
DIAGNOSTIC(untimed_device_event, DROPPED, "device events were not timed by the profiler (ts 0)")
DIAGNOSTIC(memory_without_total, NOTED, "memory events of devices do not say the total allocated")
DIAGNOSTIC(bogus_mark, NOTED, "profiler marks lie far outside the trace")
DIAGNOSTIC(impossible_duration, REPAIRED,
	   "device events outlast later work on their stream; clipped")
DIAGNOSTIC(crossing_spans, NOTED, "spans cross the end of the span that encloses them")
DIAGNOSTIC(stream_overlap, NOTED, "device events overlap on one stream")
DIAGNOSTIC(unlinked_device_event, NOTED, "device events have no launch call in the trace")
DIAGNOSTIC(device_before_launch, NOTED, "device events start before their launch call")
DIAGNOSTIC(duplicate_correlation, NOTED, "launch calls share a correlation id")
DIAGNOSTIC(launch_without_work, NOTED, "launch calls have no device event")
DIAGNOSTIC(empty_graph_launch, NOTED, "graph launches have no kernel")
DIAGNOSTIC(short_graph_replay, NOTED, "graph replays have fewer nodes than others of their graph")
