/* SPDX-License-Identifier: MIT */
/*
 * The peer of tests/bench: simdjson On Demand in its textbook use. Loads a trace and reads seven
 * fields of each event (ts, dur, name, cat, pid, tid, args.correlation), as any reader of a trace
 * must; it keeps nothing and analyses nothing. Prints counts, so that nothing can be left out.
 */
#include <cstdint>
#include <cstdio>
#include <exception>
#include <simdjson.h>
#include <string_view>

using namespace simdjson;

namespace
{

struct Totals {
	uint64_t events = 0, correlations = 0, name_bytes = 0, cat_bytes = 0, ids = 0;
	double duration_us = 0, last_us = 0;
};

/* pid and tid are numbers, but for a few events of a trace. */
uint64_t id_of(ondemand::value value)
{
	int64_t number = 0;

	if (value.get_int64().get(number) == SUCCESS)
		return static_cast<uint64_t>(number);
	return std::string_view(value.get_string()).size();
}

void read_event(ondemand::object event, Totals &totals)
{
	totals.events++;
	for (auto field : event) {
		std::string_view key = field.unescaped_key();

		if (key == "ts") {
			totals.last_us = field.value().get_double();
		} else if (key == "dur") {
			totals.duration_us += double(field.value().get_double());
		} else if (key == "name") {
			totals.name_bytes += std::string_view(field.value().get_string()).size();
		} else if (key == "cat") {
			totals.cat_bytes += std::string_view(field.value().get_string()).size();
		} else if (key == "pid" || key == "tid") {
			totals.ids += id_of(field.value());
		} else if (key == "args") {
			ondemand::object args;
			uint64_t correlation = 0;

			if (field.value().get_object().get(args) == SUCCESS &&
			    args["correlation"].get_uint64().get(correlation) == SUCCESS)
				totals.correlations++;
		}
	}
}

void read_trace(const char *path, Totals &totals)
{
	ondemand::parser parser;
	padded_string json = padded_string::load(path);
	ondemand::document document = parser.iterate(json);

	for (auto event : document["traceEvents"])
		read_event(event.get_object(), totals);
}

} // namespace

int main(int argc, char **argv)
{
	Totals totals;

	if (argc != 2) {
		std::fprintf(stderr, "usage: simdjson_fields TRACE\n");
		return 2;
	}
	try {
		read_trace(argv[1], totals);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "simdjson_fields: %s\n", error.what());
		return 3;
	}
	std::printf("events %llu correlations %llu name bytes %llu cat bytes %llu ids %llu "
		    "duration %.3f last %.3f\n",
		    static_cast<unsigned long long>(totals.events),
		    static_cast<unsigned long long>(totals.correlations),
		    static_cast<unsigned long long>(totals.name_bytes),
		    static_cast<unsigned long long>(totals.cat_bytes),
		    static_cast<unsigned long long>(totals.ids), totals.duration_us,
		    totals.last_us);
	return 0;
}
