// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace writer's container: the parts of a v6 or v7 file in the order trace-cmd 3.1.6 has them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "trace_writer_int.h"

#define SECTION_COMPRESSED 1
#define MAX_DESCRIPTION	   64

static void put_option(struct trace_writer *w, struct bytes *to, unsigned int id, const void *data,
		       size_t size)
{
	tw_put(w, to, id, 2);
	tw_put(w, to, size, 4);
	tw_bytes(w, to, data, size);
}

static void put_option_word(struct trace_writer *w, struct bytes *to, unsigned int id,
			    uint64_t value, unsigned int size)
{
	uint8_t word[8];

	tw_store(w, word, value, size);
	put_option(w, to, id, word, size);
}

static void put_clock_option(struct trace_writer *w, struct bytes *to)
{
	char text[128];

	if (w->config.flags & (TW_NO_CLOCK | TW_NO_OPTIONS))
		return;
	if (w->config.version == 6 && w->config.flags & TW_CLOCK_AFTER) {
		put_option(w, to, TW_OPT_TRACECLOCK, NULL, 0);
		return;
	}
	snprintf(text, sizeof(text), "%s[%s] counter uptime\n",
		 strcmp(w->config.clock, "local") ? "local " : "", w->config.clock);
	put_option(w, to, TW_OPT_TRACECLOCK, text, strlen(text) + 1);
}

static void put_caller_options(struct trace_writer *w, struct bytes *to)
{
	for (size_t i = 0; i < w->nr_options; i++)
		put_option(w, to, w->options[i].id, w->options[i].data.data,
			   w->options[i].data.len);
}

static unsigned int nr_cpus(const struct trace_writer *w)
{
	unsigned int nr = w->config.nr_cpus;

	for (size_t i = 0; i < w->nr_buffers; i++) {
		if (w->buffers[i]->nr_streams > nr)
			nr = w->buffers[i]->nr_streams;
	}
	return nr ? nr : 1;
}

static void flush_chunk(struct trace_writer *w)
{
	if (!w->chunk.len)
		return;
	tw_out_compressed(w, &w->chunk);
	w->chunk.len = 0;
	w->nr_chunks++;
}

void tw_sink_page(struct trace_writer *w, const uint8_t *page, unsigned int subbuf_size)
{
	if (w->config.compression == TW_PLAIN) {
		tw_out(w, page, subbuf_size);
		return;
	}
	tw_bytes(w, &w->chunk, page, subbuf_size);
	if (w->chunk.len >= (size_t)w->config.chunk_pages * subbuf_size)
		flush_chunk(w);
}

static void out_stream_pages(struct trace_writer *w, struct tw_buffer *b, unsigned int cpu)
{
	struct tw_stream *s = tw_stream(w, cpu);
	int err;

	if (!s)
		return;
	w->sink = s;
	for (size_t at = 0; at < s->pages.len; at += b->subbuf_size)
		tw_sink_page(w, s->pages.data + at, b->subbuf_size);
	if (b->generate && cpu < w->config.nr_cpus) {
		err = b->generate(w, cpu, b->generate_ctx);
		if (err)
			tw_fail(w, err);
	}
	tw_page_close(w, s, b->subbuf_size);
	w->sink = NULL;
}

/*
 * Writes one CPU's data, aligned; returns its size as the BUFFER option gives it, 0 if it has none.
 * Where it is compressed, trace-cmd 3.1.6 does not count the number of chunks, earlier ones did.
 */
static uint64_t out_stream(struct trace_writer *w, struct tw_buffer *b, unsigned int cpu,
			   uint64_t *offset)
{
	bool has_data;

	tw_align(w, b->subbuf_size);
	*offset = tw_tell(w);
	has_data = (cpu < b->nr_streams && b->streams[cpu]) ||
		   (b->generate && cpu < w->config.nr_cpus);
	if (!has_data || w->err)
		return 0;
	if (w->config.compression == TW_PLAIN) {
		out_stream_pages(w, b, cpu);
		return tw_tell(w) - *offset;
	}
	w->nr_chunks = 0;
	tw_out_word(w, 0, 4);
	out_stream_pages(w, b, cpu);
	flush_chunk(w);
	tw_patch_word(w, *offset, w->nr_chunks, 4);
	return tw_tell(w) - *offset - (w->config.flags & TW_SIZE_WITH_COUNT ? 0 : 4);
}

static void v6_clock_text(struct trace_writer *w, const struct tw_buffer *b)
{
	char text[128];

	if (w->config.flags & TW_NO_CLOCK)
		return;
	snprintf(text, sizeof(text), "[%s]", b->clock);
	tw_out_word(w, strlen(text), 8);
	tw_out(w, text, strlen(text));
}

static void v6_buffer(struct trace_writer *w, unsigned int nr)
{
	struct tw_buffer *b = w->buffers[nr];
	unsigned int cpus = nr_cpus(w);
	uint64_t table_at, offset, size;

	w->in_use = nr;
	tw_part_begin(w, TW_OPT_BUFFER);
	if (nr)
		tw_patch_word(w, b->v6_option_at, tw_tell(w), 8);
	tw_out(w, "flyrecord", 10);
	table_at = tw_tell(w);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		tw_out_word(w, 0, 8);
		tw_out_word(w, 0, 8);
	}
	if (w->config.header_cpus && w->config.header_cpus < cpus) {
		tw_out_word(w, 0, 8);
		tw_out_word(w, 0, 8);
	}
	v6_clock_text(w, b);
	for (unsigned int cpu = 0; cpu < cpus && !w->err; cpu++) {
		size = out_stream(w, b, cpu, &offset);
		tw_patch_word(w, table_at + 16 * cpu, offset, 8);
		tw_patch_word(w, table_at + 16 * cpu + 8, size, 8);
	}
	tw_part_end(w);
}

static void v6_options(struct trace_writer *w)
{
	struct bytes options = { 0 };
	uint64_t at;

	if (w->config.flags & TW_NO_OPTIONS) {
		if (w->nr_buffers > 1)
			tw_fail(w, -EINVAL);
		return;
	}
	tw_part_begin(w, TW_OPT_DONE);
	tw_out(w, "options  ", 10);
	at = tw_tell(w);
	put_clock_option(w, &options);
	if (w->config.header_cpus)
		put_option_word(w, &options, TW_OPT_CPUCOUNT, nr_cpus(w), 4);
	put_caller_options(w, &options);
	for (size_t i = 1; i < w->nr_buffers; i++) {
		struct bytes data = { 0 };

		w->buffers[i]->v6_option_at = at + options.len + 6;
		tw_put(w, &data, 0, 8);
		tw_bytes(w, &data, w->buffers[i]->name, strlen(w->buffers[i]->name) + 1);
		put_option(w, &options, TW_OPT_BUFFER, data.data, data.len);
		free(data.data);
	}
	tw_put(w, &options, TW_OPT_DONE, 2);
	tw_out_bytes(w, &options);
	tw_part_end(w);
	free(options.data);
}

static void write_v6(struct trace_writer *w)
{
	for (size_t i = 0; i < TW_NR_METADATA; i++) {
		struct bytes body = { 0 };

		tw_part_begin(w, tw_metadata[i].id);
		tw_metadata[i].body(w, &body);
		tw_out_bytes(w, &body);
		tw_part_end(w);
		free(body.data);
	}
	w->formats_written = true;
	tw_out_word(w, w->config.header_cpus ? w->config.header_cpus : nr_cpus(w), 4);
	v6_options(w);
	for (size_t i = 0; i < w->nr_buffers; i++)
		v6_buffer(w, i);
}

/*
 * Writes an options section, points to it from *link and moves *link to the section's own end. A
 * compressed section cannot be pointed on from later: there is only one then.
 */
static void v7_options(struct trace_writer *w, struct bytes *options, uint64_t *link)
{
	bool compressed = w->config.flags & TW_ONE_OPTIONS_SECTION && w->config.compression;

	tw_patch_word(w, *link, tw_tell(w), 8);
	put_option_word(w, options, TW_OPT_DONE, 0, 8);
	tw_out_section(w, TW_OPT_DONE, "options", options, compressed);
	*link = tw_tell(w) - 8;
	options->len = 0;
}

/* Writes a buffer's section and appends its option. */
static void v7_buffer(struct trace_writer *w, unsigned int nr, struct bytes *options)
{
	struct tw_buffer *b = w->buffers[nr];
	struct bytes option = { 0 }, entries = { 0 };
	char description[MAX_DESCRIPTION];
	uint64_t size_at, offset, size;
	unsigned int nr_entries = 0;

	w->in_use = nr;
	tw_put(w, &option, tw_tell(w), 8);
	snprintf(description, sizeof(description), "buffer flyrecord %s", b->name);
	size_at = tw_section_begin(w, TW_OPT_BUFFER, description, w->config.compression);
	for (unsigned int cpu = 0; cpu < nr_cpus(w) && !w->err; cpu++) {
		size = out_stream(w, b, cpu, &offset);
		if (!size)
			continue;
		tw_put(w, &entries, cpu, 4);
		tw_put(w, &entries, offset, 8);
		tw_put(w, &entries, size, 8);
		nr_entries++;
	}
	tw_section_end(w, size_at);

	tw_bytes(w, &option, b->name, strlen(b->name) + 1);
	tw_bytes(w, &option, b->clock, strlen(b->clock) + 1);
	tw_put(w, &option, b->subbuf_size, 4);
	tw_put(w, &option, nr_entries, 4);
	tw_bytes(w, &option, entries.data, entries.len);
	put_option(w, options, TW_OPT_BUFFER, option.data, option.len);
	free(option.data);
	free(entries.data);
}

static void v7_extra_sections(struct trace_writer *w, struct bytes *options)
{
	for (size_t i = 0; i < w->nr_sections; i++) {
		const struct tw_extra_section *s = &w->sections[i];

		if (s->listed)
			put_option_word(w, options, s->id, tw_tell(w), 8);
		tw_out_section(w, s->id, "extra", &s->data, w->config.compression);
	}
}

static void write_v7(struct trace_writer *w)
{
	static const char *const names[] = {
		[TW_PLAIN] = "none",
		[TW_ZSTD] = "zstd",
		[TW_ZLIB] = "zlib",
	};
	const char *name = names[w->config.compression], *version = "";
	bool one_section = w->config.flags & TW_ONE_OPTIONS_SECTION;
	struct bytes options = { 0 }, strings = { 0 };
	uint64_t link;

	if (w->config.compression)
		version = w->config.compression == TW_ZSTD ? ZSTD_versionString() : zlibVersion();
	tw_out(w, name, strlen(name) + 1);
	tw_out(w, version, strlen(version) + 1);
	link = tw_tell(w);
	tw_out_word(w, 0, 8);

	for (size_t i = 0; i < TW_NR_METADATA; i++) {
		struct bytes body = { 0 };

		put_option_word(w, &options, tw_metadata[i].id, tw_tell(w), 8);
		tw_metadata[i].body(w, &body);
		tw_out_section(w, tw_metadata[i].id, tw_metadata[i].description, &body,
			       w->config.compression);
		free(body.data);
	}
	w->formats_written = true;
	v7_extra_sections(w, &options);
	put_clock_option(w, &options);
	if (!(w->config.flags & TW_NO_OPTIONS))
		put_option_word(w, &options, TW_OPT_CPUCOUNT, nr_cpus(w), 4);
	put_caller_options(w, &options);
	if (!one_section)
		v7_options(w, &options, &link);
	for (size_t i = 0; i < w->nr_buffers; i++) {
		v7_buffer(w, i, &options);
		if (!one_section)
			v7_options(w, &options, &link);
	}
	if (one_section)
		v7_options(w, &options, &link);

	/* The section's own description is in it. */
	tw_bytes(w, &strings, w->strings.data, w->strings.len);
	tw_bytes(w, &strings, "strings", sizeof("strings"));
	tw_out_section(w, TW_OPT_STRINGS, "strings", &strings, w->config.compression);
	free(options.data);
	free(strings.data);
}

static void write_file(struct trace_writer *w)
{
	char number[16];
	const char *version = w->config.version_text;

	if (!version) {
		snprintf(number, sizeof(number), "%u", w->config.version);
		version = number;
	}
	tw_out(w, "\x17\x08\x44tracing", 10);
	tw_out(w, version, strlen(version) + 1);
	tw_out_word(w, w->config.big_endian, 1);
	tw_out_word(w, w->config.user_long_size, 1);
	tw_out_word(w, w->config.file_page_size, 4);
	if (w->config.version == 6)
		write_v6(w);
	else
		write_v7(w);
}

int tw_write(struct trace_writer *w, const char *path)
{
	if (w->err)
		return w->err;
	w->nr_parts = 0;
	w->strings.len = 0;
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		return tw_fail(w, -ENOMEM);
	/* As trace-cmd's: frames that do not say how large their content is. */
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_contentSizeFlag, 0);
	w->file = fopen(path, "w");
	if (w->file) {
		write_file(w);
		if (fclose(w->file))
			tw_fail(w, -errno);
		w->file = NULL;
	} else {
		tw_fail(w, -errno);
	}
	ZSTD_freeCCtx(w->zstd);
	free(w->chunk.data);
	w->chunk = (struct bytes){ 0 };
	return w->err;
}
