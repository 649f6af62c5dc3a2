// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads one line of KTAP: versions, headers, plans, results, and our bench lines. */
#include <string.h>

#include "ktap.h"
#include "ktap_line.h"

bool ktap_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_spaces(const char *s)
{
	while (ktap_space(*s))
		s++;
	return s;
}

/* What stands behind @word at the start of @s, or NULL. */
static const char *skip_word(const char *s, const char *word)
{
	size_t length = strlen(word);

	return strncmp(s, word, length) ? NULL : s + length;
}

/* Read digits from *@s on; a number too large is UINT64_MAX. Returns false where there are none. */
static bool read_number(const char **s, uint64_t *number)
{
	const char *start = *s;

	for (*number = 0; is_digit(**s); ++*s) {
		unsigned int digit = **s - '0';

		if (*number > (UINT64_MAX - digit) / 10)
			*number = UINT64_MAX;
		else
			*number = *number * 10 + digit;
	}
	return *s > start;
}

bool ktap_version_line(const char *line, const char *words, uint64_t *version)
{
	const char *s = skip_word(skip_spaces(line), words);

	return s && *s++ == ' ' && read_number(&s, version) && !*s;
}

const char *ktap_header_line(const char *line)
{
	return skip_word(skip_spaces(line), "# Subtest: ");
}

bool ktap_plan_line(const char *line, uint64_t *nr)
{
	const char *s = skip_word(skip_spaces(line), "1..");

	return s && read_number(&s, nr);
}

/*
 * Where a name may start behind the number at @s: ` ?(:?- )?`. Both pieces may be left out where
 * the rest fits only so; @choice 0 takes both, 3 none. Returns NULL where a choice takes nothing.
 */
static const char *name_start(const char *s, int choice)
{
	if (!(choice & 2)) {
		if (*s != ' ')
			return NULL;
		s++;
	}
	if (choice & 1)
		return s;
	s += *s == ':';
	return skip_word(s, "- ");
}

/* The first start of a name at or before @name_end, or NULL. */
static const char *first_start(const char *s, const char *name_end)
{
	for (int choice = 0; choice < 4; choice++) {
		const char *start = name_start(s, choice);

		if (start && start <= name_end)
			return start;
	}
	return NULL;
}

static const char *last_skip(const char *s)
{
	const char *last = NULL;

	while ((s = strstr(s, " # SKIP")))
		last = s++;
	return last;
}

/*
 * A name ends before the first " # "; a '#' elsewhere makes the line a diagnostic one. The name of
 * a skipped test ends before the last " # SKIP".
 */
bool ktap_result_line(const char *line, struct ktap_result_line *r)
{
	const char *s = skip_spaces(line), *not = skip_word(s, "not "), *skip, *hash, *end;

	r->ok = !not ;
	s = skip_word(not ? not : s, "ok ");
	if (!s || !read_number(&s, &r->number))
		return false;
	hash = strchr(s, '#');
	if (hash && (hash == s || hash[-1] != ' ' || hash[1] != ' '))
		return false;
	skip = last_skip(s);
	end = hash ? hash - 1 : s + strlen(s);
	r->plain = first_start(s, end);
	r->plain_bytes = end - r->plain;
	end = skip ? skip : end;
	r->name = first_start(s, end);
	r->name_bytes = end - r->name;
	r->skip = skip;
	r->reason = skip ? skip + strlen(" # SKIP") : "";
	r->reason += *r->reason == ' ';
	return true;
}

bool ktap_diagnostic_line(const char *line)
{
	struct ktap_result_line r;
	uint64_t number;

	return !ktap_result_line(line, &r) && !ktap_header_line(line) &&
	       !ktap_plan_line(line, &number) &&
	       !ktap_version_line(line, "KTAP version", &number) &&
	       !ktap_version_line(line, "TAP version", &number);
}
/* Bench lines. */

/*
 * Digits with or without a point, at most 15 of them: then one division gives the nearest double.
 * Returns false for anything else.
 */
static bool read_ns(const char *s, size_t bytes, double *ns)
{
	uint64_t digits = 0, scale = 1;
	bool point = false;

	if (!bytes || bytes > 16 || !is_digit(s[0]) || !is_digit(s[bytes - 1]))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		if (s[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(s[i]))
			return false;
		digits = digits * 10 + (s[i] - '0');
		scale *= point ? 10 : 1;
	}
	*ns = (double)digits / (double)scale;
	return digits < 1000000000000000;
}

/* The value of @key= among the words of @s, its length in *@bytes; NULL where it is not there. */
static const char *find_value(const char *s, const char *key, size_t *bytes)
{
	while (*s) {
		const char *value = skip_word(s, key);

		*bytes = strcspn(s, " \t");
		if (value && *value == '=') {
			*bytes -= value + 1 - s;
			return value + 1;
		}
		s = skip_spaces(s + *bytes);
	}
	return NULL;
}
static bool find_ns(const char *words, const char *key, double *ns)
{
	size_t bytes;
	const char *value = find_value(words, key, &bytes);

	return value && read_ns(value, bytes, ns);
}

static bool find_nr_ptes(const char *words, uint32_t *nr_ptes)
{
	size_t bytes;
	const char *value = find_value(words, "nr", &bytes);
	uint64_t nr;

	if (!value || !read_number(&value, &nr) || (*value && !ktap_space(*value)))
		return false;
	*nr_ptes = nr;
	return nr && nr <= KTAP_MAX_PTES;
}

int ktap_bench_line(const char *line, struct ktap_bench_line *b, const char **lacks)
{
	const char *words = skip_word(skip_spaces(line), "# ");

	words = words ? strstr(words, "bench: ") : NULL;
	words = words ? skip_spaces(words + strlen("bench: ")) : NULL;
	if (!words || !skip_word(words, "helper="))
		return 0;
	b->helper = find_value(words, "helper", &b->helper_bytes);
	if (!b->helper_bytes)
		*lacks = "helper=, a name";
	else if (!find_nr_ptes(words, &b->nr_ptes))
		*lacks = "nr=, a number of PTEs of one page table";
	else if (!find_ns(words, "batched_ns", &b->batched_ns))
		*lacks = "batched_ns=, a time in ns";
	else if (!find_ns(words, "single_ns", &b->single_ns))
		*lacks = "single_ns=, a time in ns";
	else
		return 1;
	return -1;
}
