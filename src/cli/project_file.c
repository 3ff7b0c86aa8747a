/* SPDX-License-Identifier: MIT */
/*
 * Finds and reads the project file. Debian has no maintained TOML library for C, so it is YAML, of
 * which libyaml's events are taken one by one: two levels of keys, scalars and lists of these.
 * Whoever can write such a file decides which gates hold, so one of another user is refused.
 */
#include "project_file.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 64 << 10, MAX_ENTRIES = 1000 };

void project_file_deinit(struct project_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		free(file->entries[i].section);
		free(file->entries[i].key);
		free(file->entries[i].value);
	}
	free(file->entries);
	free(file->path);
	*file = (struct project_file){ 0 };
}

/* ---- what it says ---- */

static enum exit_code fail_nomem(void)
{
	say_nomem();
	return EXIT_CODE_INTERNAL;
}

#if HAVE_YAML

#include <yaml.h>

struct reader {
	struct project_file *file;
	yaml_event_t event;
	char *section, *key; /* that are open; NULL: none */
	unsigned depth;      /* of keys: 0 before the first */
	bool is_list;        /* the key's value */
	const char *text;
	bool is_done;
	enum exit_code code;
};

static void fail(struct reader *r, size_t line, const char *what)
{
	if (r->code != EXIT_CODE_OK)
		return;
	say_in(r->file->path, line + 1);
	say(what, "", "");
	say_in(NULL, 0);
	r->code = EXIT_CODE_USAGE;
}

static void fail_here(struct reader *r, const char *what)
{
	fail(r, r->event.start_mark.line, what);
}

static char *copy(struct reader *r, const char *text)
{
	char *made = strdup(text);

	if (!made)
		r->code = fail_nomem();
	return made;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* Whether the key stands there already, or as a section of its own. */
static bool is_repeated(const struct reader *r, const char *key)
{
	for (size_t i = 0; i < r->file->count; i++) {
		const struct project_entry *entry = &r->file->entries[i];

		if (is_same(entry->section, r->section) && strcmp(entry->key, key) == 0)
			return true;
		if (!r->section && is_same(entry->section, key))
			return true;
	}
	return false;
}

static void add_entry(struct reader *r, const char *value)
{
	struct project_file *file = r->file;
	struct project_entry entry = { .line = r->event.start_mark.line + 1,
				       .is_item = r->is_list };

	if (file->count == MAX_ENTRIES) {
		fail_here(r, "more than 1000 settings");
		return;
	}
	if (file->count == file->room) {
		size_t room = file->room > 0 ? 2 * file->room : 16;
		struct project_entry *entries = realloc(file->entries, room * sizeof(*entries));

		if (!entries) {
			r->code = fail_nomem();
			return;
		}
		file->entries = entries;
		file->room = room;
	}
	entry.section = r->section ? copy(r, r->section) : NULL;
	entry.key = copy(r, r->key);
	entry.value = copy(r, value);
	file->entries[file->count++] = entry;
}

static void end_key(struct reader *r)
{
	free(r->key);
	r->key = NULL;
	r->is_list = false;
}

static void take_scalar(struct reader *r)
{
	const char *text = (const char *)r->event.data.scalar.value;
	size_t length = r->event.data.scalar.length;
	bool is_empty = length == 0 && r->event.data.scalar.plain_implicit;

	if (strlen(text) != length) {
		fail_here(r, "a text with a NUL");
	} else if (r->depth == 0) {
		if (!is_empty)
			fail_here(r, "expected options and values, such as 'top: 20'");
	} else if (r->key && is_empty) {
		fail_here(r, "a key without a value");
	} else if (r->key) {
		add_entry(r, text);
		if (!r->is_list)
			end_key(r);
	} else if (is_repeated(r, text)) {
		fail_here(r, "a key given before; write several values as a list: [a, b]");
	} else {
		r->key = copy(r, text);
	}
}

static void take_mapping(struct reader *r)
{
	if ((r->depth > 0 && !r->key) || r->is_list)
		fail_here(r, "expected a word, found a mapping");
	else if (r->depth == 2)
		fail_here(r, "a section in a section; sections are named like commands");
	else if (r->depth++ == 1) {
		r->section = r->key;
		r->key = NULL;
	}
}

static void end_mapping(struct reader *r)
{
	if (--r->depth != 1)
		return;
	free(r->section);
	r->section = NULL;
}

static void take_event(struct reader *r)
{
	const yaml_event_t *event = &r->event;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		take_scalar(r);
		break;
	case YAML_MAPPING_START_EVENT:
		take_mapping(r);
		break;
	case YAML_MAPPING_END_EVENT:
		end_mapping(r);
		break;
	case YAML_SEQUENCE_START_EVENT:
		if (!r->key || r->is_list)
			fail_here(r, "expected a word, found a list");
		r->is_list = true;
		break;
	case YAML_SEQUENCE_END_EVENT:
		end_key(r);
		break;
	case YAML_DOCUMENT_START_EVENT:
		if (r->is_done)
			fail_here(r, "a second document; only one is read");
		break;
	case YAML_DOCUMENT_END_EVENT:
	case YAML_STREAM_END_EVENT:
		r->is_done = true;
		break;
	default:
		break;
	}
}

/* Values that stand for others, or are to be made something of, are not needed and not read. */
static void check_plain(struct reader *r)
{
	const yaml_event_t *event = &r->event;
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	}
	if (anchor || event->type == YAML_ALIAS_EVENT)
		fail_here(r, "anchors and aliases are not read; write the value again, or quote "
			     "it if it begins with & or *");
	if (tag)
		fail_here(r, "tags are not read; quote the value if it begins with !");
}

static void fail_parser(struct reader *r, const yaml_parser_t *parser)
{
	size_t line = parser->problem_mark.line;

	if (parser->error == YAML_MEMORY_ERROR) {
		r->code = fail_nomem();
		return;
	}
	if (parser->error == YAML_READER_ERROR) /* which knows no lines */
		for (size_t i = line = 0; i < parser->problem_offset; i++)
			line += r->text[i] == '\n';
	fail(r, line, parser->problem ? parser->problem : "not YAML");
}

static void read_events(struct reader *r, yaml_parser_t *parser)
{
	bool is_last = false;

	while (r->code == EXIT_CODE_OK && !is_last) {
		if (!yaml_parser_parse(parser, &r->event)) {
			fail_parser(r, parser);
			return;
		}
		check_plain(r);
		if (r->code == EXIT_CODE_OK)
			take_event(r);
		is_last = r->event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&r->event);
	}
}

enum exit_code project_file_parse(struct project_file *file, const char *text, size_t length)
{
	struct reader r = { .file = file, .text = text };
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return fail_nomem();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	read_events(&r, &parser);
	yaml_parser_delete(&parser);
	free(r.section);
	free(r.key);
	return r.code;
}

#else

enum exit_code project_file_parse(struct project_file *file, const char *text, size_t length)
{
	(void)text;
	(void)length;
	say_about(file->path, "this build cannot read YAML", "; --no-config goes on without it");
	return EXIT_CODE_USAGE;
}

#endif

/* ---- where it is ---- */

/* Does somebody else decide what is in it? Root could anyway. */
static bool is_foreign(const struct stat *status)
{
	return status->st_uid != geteuid() && status->st_uid != 0;
}

static enum exit_code fail_foreign(const char *path)
{
	char rest[PATH_MAX + 80];

	snprintf(rest, sizeof(rest), "; --config %s reads it, --no-config goes on without it",
		 path);
	say_about(path, "belongs to another user", rest);
	return EXIT_CODE_USAGE;
}

static enum exit_code fail_file(const char *path)
{
	bool is_missing = errno == ENOENT || errno == ENOTDIR;

	say_about(path, strerror(errno), "; --no-config goes on without it");
	return is_missing ? EXIT_CODE_USAGE : EXIT_CODE_INPUT;
}

/* Reads one byte more than the limit to detect a file that is too large. Closes fd. */
static enum exit_code read_from(struct project_file *file, int fd)
{
	char *text = malloc(MAX_BYTES + 1);
	enum exit_code code;
	size_t length = 0;
	ssize_t got = 1;

	while (text && length <= MAX_BYTES && got > 0) {
		got = read(fd, text + length, MAX_BYTES + 1 - length);
		length += got > 0 ? (size_t)got : 0;
	}
	if (!text) {
		code = fail_nomem();
	} else if (got < 0) {
		code = fail_file(file->path);
	} else if (length > MAX_BYTES) {
		say_about(file->path, "more than 64 KiB", "; a project file holds options only");
		code = EXIT_CODE_USAGE;
	} else {
		code = project_file_parse(file, text, length);
	}
	close(fd);
	free(text);
	return code;
}

static enum exit_code read_file(struct project_file *file, bool is_chosen)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | (is_chosen ? 0 : O_NONBLOCK));
	enum exit_code code = EXIT_CODE_USAGE;
	struct stat status;

	if (fd < 0)
		return fail_file(file->path);
	if (fstat(fd, &status) != 0)
		code = fail_file(file->path);
	else if (!S_ISREG(status.st_mode) && !is_chosen)
		say_about(file->path, "not a regular file", "; --no-config goes on without it");
	else if (!is_chosen && is_foreign(&status))
		code = fail_foreign(file->path);
	else
		return read_from(file, fd);
	close(fd);
	return code;
}

/* Whether there is something of this name; -1: errno says why that is not known. */
static int is_there(const char *folder, const char *name)
{
	char path[PATH_MAX + 16];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (lstat(path, &status) == 0)
		return 1;
	return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
}

static bool is_home(const char *folder)
{
	const char *home = getenv("HOME");
	struct stat ours, theirs;

	return home && stat(home, &theirs) == 0 && stat(folder, &ours) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* Upwards to the root, the home folder or that of a repository, whichever comes first. */
static enum exit_code find(struct project_file *file)
{
	char folder[PATH_MAX]; /* "" is the root */

	if (!getcwd(folder, sizeof(folder))) {
		if (errno == ENOENT) /* a folder that was removed has no project */
			return EXIT_CODE_OK;
		say_about("the current folder", strerror(errno),
			  "; --no-config goes on without a project file");
		return EXIT_CODE_INPUT;
	}
	if (folder[1] == '\0')
		folder[0] = '\0';
	for (;;) {
		int found = is_there(folder, PROJECT_FILE);
		char *slash = strrchr(folder, '/');

		if (found != 0) {
			size_t size = strlen(folder) + sizeof("/" PROJECT_FILE);

			file->path = malloc(size);
			if (!file->path)
				return fail_nomem();
			snprintf(file->path, size, "%s/" PROJECT_FILE, folder);
			return found > 0 ? EXIT_CODE_OK : fail_file(file->path);
		}
		if (!slash || is_there(folder, ".git") > 0 || is_home(folder))
			return EXIT_CODE_OK;
		*slash = '\0';
	}
}

enum exit_code project_file_read(struct project_file *file, const char *path)
{
	enum exit_code code = EXIT_CODE_OK;

	*file = (struct project_file){ 0 };
	if (!path)
		code = find(file);
	else if (!(file->path = strdup(path)))
		code = fail_nomem();
	if (code != EXIT_CODE_OK || !file->path)
		return code;
	return read_file(file, path != NULL);
}
