/* SPDX-License-Identifier: MIT */
/*
 * Names as archives have them, which may lie: nothing is ever written or opened by them, but what
 * would lead out of the archive is not to look like one of its files.
 */
#include "input/member_name.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_FOLDERS = 32 };

const char *tsi_member_name_join(char path[static MEMBER_MAX_CHARS], const char *name)
{
	size_t length = strlen(path), part_count = 0;

	while (*name) {
		size_t part = strcspn(name, "/");
		bool is_here = part == 1 && *name == '.';

		if (part == 2 && memcmp(name, "..", 2) == 0)
			return "its name leads out of the archive";
		if (part > 0 && !is_here && ++part_count > MAX_FOLDERS)
			return "in too many folders (limit: folders around a member)";
		if (length + part + 2 > MEMBER_MAX_CHARS)
			return "its name is too long (limit: name of a member)";
		if (part > 0 && !is_here) {
			path[length++] = '/';
			memcpy(path + length, name, part);
			length += part;
			path[length] = '\0';
		}
		name += part + (name[part] == '/');
	}
	return NULL;
}

/* Length of a path without its last part. */
static size_t length_above(const char *path, size_t length, size_t archive_length)
{
	while (length > archive_length && path[length - 1] != '/')
		length--;
	return length > archive_length ? length - 1 : archive_length;
}

bool tsi_member_link_target(char ret[static MEMBER_MAX_CHARS], const char *path,
			    size_t archive_length, const struct archive_member *link)
{
	const char *target = link->target;
	size_t length = archive_length;

	/* Names of hard links begin at the top, those of others at the folder that they are in. */
	if (!link->is_hard_link)
		length = length_above(path, strlen(path), archive_length);
	for (; !link->is_hard_link && strncmp(target, "../", 3) == 0; target += 3) {
		if (length == archive_length)
			return false;
		length = length_above(path, length, archive_length);
	}
	memcpy(ret, path, length);
	ret[length] = '\0';
	return (link->is_hard_link || *target != '/') && !tsi_member_name_join(ret, target);
}

size_t tsi_member_archive_length(const char *path)
{
	char text[ARCHIVE_MAX_CHARS];
	size_t length = strlen(path);
	struct stat found;

	if (length >= sizeof(text))
		return 0;
	memcpy(text, path, length + 1);
	while (length > 0) {
		while (length > 0 && text[length - 1] != '/')
			length--;
		while (length > 0 && text[length - 1] == '/')
			length--;
		text[length] = '\0';
		if (length > 0 && stat(text, &found) == 0)
			return S_ISREG(found.st_mode) ? length : 0;
	}
	return 0;
}
