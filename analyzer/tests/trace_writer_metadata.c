// SPDX-License-Identifier: GPL-2.0-or-later
/* What the trace writer puts before the options: headers, event formats, symbols, command lines. */
#include <stdlib.h>
#include <string.h>

#include "trace_writer_int.h"

static void put_sized_text(struct trace_writer *w, struct bytes *to, const char *name,
			   const char *text)
{
	tw_bytes(w, to, name, strlen(name) + 1);
	tw_put(w, to, strlen(text), 8);
	tw_bytes(w, to, text, strlen(text));
}

static void body_header_info(struct trace_writer *w, struct bytes *to)
{
	static const char header_event[] = "# compressed entry header\n"
					   "\ttype_len    :    5 bits\n"
					   "\ttime_delta  :   27 bits\n"
					   "\tarray       :   32 bits\n"
					   "\n"
					   "\tpadding     : type == 29\n"
					   "\ttime_extend : type == 30\n"
					   "\ttime_stamp : type == 31\n"
					   "\tdata max type_len  == 28\n";
	unsigned int data_offset = 8 + w->config.long_size;
	char header_page[512];

	snprintf(header_page, sizeof(header_page),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: char overwrite;\toffset:8;\tsize:1;\tsigned:0;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:0;\n",
		 w->config.long_size, data_offset, w->config.subbuf_size - data_offset);
	put_sized_text(w, to, "header_page", header_page);
	put_sized_text(w, to, "header_event", header_event);
}

static void put_format(struct trace_writer *w, struct bytes *to, struct tw_event *event)
{
	struct bytes text = { 0 };

	tw_event_format(event, &text);
	tw_put(w, to, text.len, 8);
	tw_bytes(w, to, text.data, text.len);
	free(text.data);
}

static unsigned int nr_events_of(const struct trace_writer *w, const char *system)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < w->nr_events; i++)
		nr += !strcmp(w->events[i]->system, system);
	return nr;
}

static void put_formats_of(struct trace_writer *w, struct bytes *to, const char *system)
{
	tw_put(w, to, nr_events_of(w, system), 4);
	for (size_t i = 0; i < w->nr_events; i++) {
		if (!strcmp(w->events[i]->system, system))
			put_format(w, to, w->events[i]);
	}
}

static void body_ftrace_events(struct trace_writer *w, struct bytes *to)
{
	put_formats_of(w, to, "ftrace");
}

/* True for the first event of each system but ftrace. */
static bool begins_system(const struct trace_writer *w, size_t nr)
{
	const char *system = w->events[nr]->system;

	if (!strcmp(system, "ftrace"))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(w->events[i]->system, system))
			return false;
	}
	return true;
}

static void body_event_formats(struct trace_writer *w, struct bytes *to)
{
	unsigned int nr_systems = 0;

	for (size_t i = 0; i < w->nr_events; i++)
		nr_systems += begins_system(w, i);
	tw_put(w, to, nr_systems, 4);
	for (size_t i = 0; i < w->nr_events; i++) {
		const char *system = w->events[i]->system;

		if (!begins_system(w, i))
			continue;
		tw_bytes(w, to, system, strlen(system) + 1);
		put_formats_of(w, to, system);
	}
}

static void body_kallsyms(struct trace_writer *w, struct bytes *to)
{
	tw_put(w, to, w->kallsyms.len, 4);
	tw_bytes(w, to, w->kallsyms.data, w->kallsyms.len);
}

static void body_printk(struct trace_writer *w, struct bytes *to)
{
	tw_put(w, to, w->printk.len, 4);
	tw_bytes(w, to, w->printk.data, w->printk.len);
}

static void body_cmdlines(struct trace_writer *w, struct bytes *to)
{
	tw_put(w, to, w->comms.len, 8);
	tw_bytes(w, to, w->comms.data, w->comms.len);
}

const struct tw_metadata tw_metadata[TW_NR_METADATA] = {
	{ TW_OPT_HEADER_INFO, "headers", body_header_info },
	{ TW_OPT_FTRACE_EVENTS, "ftrace events", body_ftrace_events },
	{ TW_OPT_EVENT_FORMATS, "events format", body_event_formats },
	{ TW_OPT_KALLSYMS, "kallsyms", body_kallsyms },
	{ TW_OPT_PRINTK, "printk", body_printk },
	{ TW_OPT_CMDLINES, "command lines", body_cmdlines },
};
