/* SPDX-License-Identifier: MIT */
/*
 * The peer of tests/bench: simdjson On Demand. Reads seven fields of each event (ts, dur, name,
 * cat, pid, tid, args.correlation), as any reader of a trace must; it keeps nothing and analyses
 * nothing. Prints counts, so that nothing can be left out.
 *
 * Twice: "load" is its textbook use, and "batches" the best that can be made of it: blocks of the
 * file in one small buffer that stays in the cache, cut between two events and put in brackets, so
 * that each is a document of its own. (iterate_many does so for documents between which stands no
 * comma; later versions know commas, too.)
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <simdjson.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace simdjson;

namespace
{

struct Totals {
	uint64_t events = 0, correlations = 0, name_bytes = 0, cat_bytes = 0, ids = 0;
	double duration_us = 0, last_us = 0;
};

/* ---- one event ---------------------------------------------------------------------------- */

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

/* ---- the whole file at once --------------------------------------------------------------- */

void read_loaded(const char *path, Totals &totals)
{
	ondemand::parser parser;
	padded_string json = padded_string::load(path);
	ondemand::document document = parser.iterate(json);

	if (document.type() == ondemand::json_type::array) {
		for (auto event : document.get_array())
			read_event(event.get_object(), totals);
		return;
	}
	for (auto event : document["traceEvents"])
		read_event(event.get_object(), totals);
}

/* ---- in batches --------------------------------------------------------------------------- */

bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

class Batches
{
public:
	explicit Batches(const char *path) : file(open(path, O_RDONLY)), bytes(ROOM)
	{
		if (file < 0)
			throw std::runtime_error("cannot open the file");
	}

	~Batches() { close(file); }

	Batches(const Batches &) = delete;
	Batches &operator=(const Batches &) = delete;

	void read(Totals &totals)
	{
		while (more())
			if (is_in_events || find_events())
				read_batch(totals);
		read_end(totals);
	}

private:
	static constexpr size_t BATCH = 256 << 10;
	static constexpr std::string_view BEFORE = "{\"traceEvents\":[";
	static constexpr size_t ROOM = 2 * BATCH;

	int file;
	std::vector<char> bytes; /* BEFORE and what was read and is no event yet stand in it */
	size_t first = BEFORE.size(), end = BEFORE.size();
	bool is_in_events = false, is_array = false;
	ondemand::parser parser;

	/* Moves what is left to the front and reads on behind it. */
	bool more()
	{
		size_t left = end - first;

		std::memmove(&bytes[BEFORE.size()], &bytes[first], left);
		first = BEFORE.size();
		end = first + left;
		if (bytes.size() < end + BATCH + SIMDJSON_PADDING)
			bytes.resize(2 * (end + BATCH));
		ssize_t count = ::read(file, &bytes[end], BATCH);
		if (count < 0)
			throw std::runtime_error("cannot read the file");
		end += static_cast<size_t>(count);
		return count > 0;
	}

	/* Sets first behind the bracket that opens the array of events. */
	bool find_events()
	{
		std::string_view text(&bytes[first], end - first);
		size_t at = text.find_first_not_of(" \n\r\t");

		is_array = at != text.npos && text[at] == '[';
		if (!is_array) {
			at = text.find("\"traceEvents\"");
			if (at == text.npos || (at = text.find('[', at)) == text.npos)
				return false;
		}
		first += at + 1;
		is_in_events = true;
		return true;
	}

	/* The last comma before a place that stands between two objects; 0: there is none. */
	size_t comma_before(size_t place) const
	{
		for (size_t at = place; at-- > first;) {
			size_t before = at, behind = at + 1;

			if (bytes[at] != ',')
				continue;
			while (before > first && is_space(bytes[before - 1]))
				before--;
			while (behind < end && is_space(bytes[behind]))
				behind++;
			if (before > first && bytes[before - 1] == '}' && behind < end &&
			    bytes[behind] == '{')
				return at;
		}
		return 0;
	}

	/*
	 * Objects may stand in the args of an event, too, or look so in a text: then the batch is
	 * no valid document, and the comma before is tried.
	 */
	void read_batch(Totals &totals)
	{
		for (size_t comma = end; (comma = comma_before(comma)) != 0;) {
			Totals sums = totals;

			bytes[first - 1] = '[';
			bytes[comma] = ']';
			bool is_read = read_document(first - 1, comma + 1, sums);
			bytes[comma] = ',';
			if (is_read) {
				totals = sums;
				first = comma + 1;
				return;
			}
		}
	}

	bool read_document(size_t from, size_t to, Totals &totals)
	{
		try {
			read_array(from, to, totals);
		} catch (const simdjson_error &) {
			return false;
		}
		return true;
	}

	void read_array(size_t from, size_t to, Totals &totals)
	{
		ondemand::document document =
			parser.iterate(&bytes[from], to - from, bytes.size() - from);

		for (auto event : document.get_array())
			read_event(event.get_object(), totals);
	}

	/* The last events, and what follows the array: a document like the whole file. */
	void read_end(Totals &totals)
	{
		if (!is_in_events)
			throw std::runtime_error("no traceEvents");
		size_t from = first - (is_array ? 1 : BEFORE.size());

		std::memcpy(&bytes[from], is_array ? "[" : BEFORE.data(), first - from);
		ondemand::document document =
			parser.iterate(&bytes[from], end - from, bytes.size() - from);
		ondemand::array events;
		if (is_array)
			events = document.get_array();
		else
			events = document["traceEvents"].get_array();
		for (auto event : events)
			read_event(event.get_object(), totals);
	}
};

} // namespace

int main(int argc, char **argv)
{
	Totals totals;

	if (argc != 3) {
		std::fprintf(stderr, "usage: simdjson_fields load|batches TRACE\n");
		return 2;
	}
	try {
		if (std::string_view(argv[1]) == "load")
			read_loaded(argv[2], totals);
		else
			Batches(argv[2]).read(totals);
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
