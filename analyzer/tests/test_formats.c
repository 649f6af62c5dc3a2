// SPDX-License-Identifier: GPL-2.0-or-later
/* Format texts: what the kernel writes, what old kernels wrote, and what is damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats.h"

#define HEAD "name: thing\nID: 77\nformat:\n"
#define COMMON                                                                 \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define TAIL "\nprint fmt: \"%s\", REC->x\n"

static struct formats parse(const char *text, size_t size, struct damages *d)
{
	struct trace_text t = {
		.system = "sys", .text = (char *)text, .size = size, .offset = 100
	};
	struct formats f;

	assert_int_equal(formats_parse(&f, &t, 1, d), 0);
	return f;
}

static void test_good(void **state)
{
	static const char text[] =
		HEAD COMMON "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
			    "\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n"
			    "\tfield:__rel_loc u8[] rel;\toffset:36;\tsize:4;\tsigned:0;\n"
			    "\tfield:struct page * page;\toffset:40;\tsize:8;\tsigned:0;\n"
			    "\tfield:s8 small;\toffset:48;\tsize:1;\tsigned:1;\n"
			    "\tfield special:u32 old;\toffset:52;\tsize:4;\n" TAIL;
	static const struct {
		const char *name;
		uint32_t offset, size;
		enum field_kind kind;
		bool is_signed;
	} expected[] = {
		{ "common_type", 0, 2, FIELD_NUMBER, false },
		{ "common_pid", 4, 4, FIELD_NUMBER, true },
		{ "ip", 8, 8, FIELD_NUMBER, false },
		{ "comm", 16, 16, FIELD_ARRAY, false },
		{ "name", 32, 4, FIELD_DYNAMIC, false },
		{ "rel", 36, 4, FIELD_DYNAMIC_REL, false },
		{ "page", 40, 8, FIELD_NUMBER, false },
		{ "small", 48, 1, FIELD_NUMBER, true },
		{ "old", 52, 4, FIELD_NUMBER, false },
	};
	struct damages d = { 0 };
	struct formats f = parse(text, strlen(text), &d);
	const struct event_format *e = formats_find(&f, "sys", "thing");

	assert_int_equal(d.nr, 0);
	assert_non_null(e);
	assert_null(formats_find(&f, "other", "thing"));
	assert_ptr_equal(formats_find(&f, NULL, "thing"), e);
	assert_int_equal(e->id, 77);
	assert_int_equal(e->size, 56);
	assert_int_equal(e->nr_fields, 9);
	for (size_t i = 0; i < 9; i++) {
		const struct field *field = format_field(e, expected[i].name);

		assert_non_null(field);
		assert_int_equal(field->offset, expected[i].offset);
		assert_int_equal(field->size, expected[i].size);
		assert_int_equal(field->kind, expected[i].kind);
		assert_int_equal(field->is_signed, expected[i].is_signed);
	}
	assert_null(format_field(e, "none"));
	formats_release(&f);
}

static void test_values(void **state)
{
	uint8_t data[16] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f };
	struct field f = { .size = 8 };

	assert_int_equal(field_value(&f, data, false), 0x7ffffffffffffffe);
	assert_int_equal(field_value(&f, data, true), 0xfeffffffffffff7f);
	f.size = 4;
	assert_int_equal(field_value(&f, data, false), 0xfffffffe);
	f.is_signed = true;
	assert_int_equal((int64_t)field_value(&f, data, false), -2);
	f.size = 2;
	assert_int_equal((int64_t)field_value(&f, data, false), -2);
	assert_int_equal((int64_t)field_value(&f, data, true), -257);
	f.size = 1;
	assert_int_equal((int64_t)field_value(&f, data, false), -2);
	f.is_signed = false;
	f.offset = 7;
	assert_int_equal(field_value(&f, data, true), 0x7f);
}

/* Each is damage, noted once with its place, and the event is left out. */
static void test_damage(void **state)
{
	static const char *const texts[] = {
		HEAD "\tfield:int x;\toffset:8;\tsize:4\tsigned:1;\n" TAIL,
		HEAD "\tfield:int x;\toffset:a;\tsize:4;\tsigned:1;\n" TAIL,
		HEAD "\tfield:int x;\toffset:;\tsize:4;\tsigned:1;\n" TAIL,
		HEAD "\tfield:int x;\toffset:99999999999;\tsize:4;\tsigned:1;\n" TAIL,
		HEAD "\tfield:int x;\toffset:8;\tsize:4294967295;\tsigned:1;\n" TAIL,
		HEAD "\tfield:int x;\tsize:4;\tsigned:1;\n" TAIL,
		HEAD "\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n" TAIL,
		HEAD "\tfield int x;\toffset:8;\tsize:4;\tsigned:1;\n" TAIL,
		HEAD "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1; more\n" TAIL,
		"ID: 77\nformat:\n" COMMON TAIL,
		"name: thing\nformat:\n" COMMON TAIL,
		"name: thing\nID: x7\nformat:\n" COMMON TAIL,
		"",
		HEAD COMMON "\tfield:int \x80;\toffset:8;\tsize:4;\tsigned:1;\n" TAIL,
		HEAD COMMON "\nprint fmt: \"\x01\"\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct damages d = { 0 };
		struct formats f = parse(texts[i], strlen(texts[i]), &d);

		assert_int_equal(f.nr, 0);
		assert_int_equal(d.nr, 1);
		assert_true(d.list[0].offset >= 100);
		assert_true(d.list[0].offset <= 100 + strlen(texts[i]));
		damages_release(&d);
		formats_release(&f);
	}
}

/* A print format that nobody can parse says nothing about the fields. */
static void test_print_format_is_not_looked_at(void **state)
{
	static const char text[] = HEAD COMMON "\nprint fmt: \"%d (((\", field: ]]] #!, \n"
					       "\tfield: nonsense\n";
	struct damages d = { 0 };
	struct formats f = parse(text, strlen(text), &d);

	assert_int_equal(d.nr, 0);
	assert_int_equal(f.nr, 1);
	assert_int_equal(f.list[0].nr_fields, 2);
	formats_release(&f);
}

static int layout(const char *text, struct page_layout *l, struct damages *d)
{
	struct trace_text t = { .text = (char *)text, .size = strlen(text), .offset = 7 };

	return page_layout_parse(l, &t, d);
}

#define PAGE_TEXT(commit, offset, size)                                      \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"           \
	"\tfield: local_t commit;\toffset:8;\tsize:" commit ";\tsigned:1;\n" \
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"           \
	"\tfield: char data;\toffset:" offset ";\tsize:" size ";\tsigned:1;\n"

static void test_page_layout(void **state)
{
	struct damages d = { 0 };
	struct page_layout l;

	assert_int_equal(layout(PAGE_TEXT("8", "16", "4080"), &l, &d), 0);
	assert_int_equal(l.commit_size, 8);
	assert_int_equal(l.data_offset, 16);
	assert_int_equal(l.page_size, 4096);
	assert_int_equal(layout(PAGE_TEXT("4", "12", "65524"), &l, &d), 0);
	assert_int_equal(l.commit_size, 4);
	assert_int_equal(l.page_size, 65536);
	assert_int_equal(d.nr, 0);
	assert_true(layout(PAGE_TEXT("2", "16", "4080"), &l, &d) < 0);
	assert_true(layout(PAGE_TEXT("8", "12", "4080"), &l, &d) < 0);
	assert_true(layout(PAGE_TEXT("8", "16", "0"), &l, &d) < 0);
	assert_true(layout("", &l, &d) < 0);
	assert_int_equal(d.nr, 1);
	assert_int_equal(d.list[0].times, 4);
	damages_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_print_format_is_not_looked_at),
		cmocka_unit_test(test_page_layout),
	};

	return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
