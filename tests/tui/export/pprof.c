#include "tui/export/pprof.h"

#include <profile.pb-c.h>
#include <zlib.h>

#include "mixed.h"

static Pprof__Profile *
profile_of(struct model *model)
{
    size_t length;
    static unsigned char bytes[65536];
    char *text = mixed_written(model, "pprof", (struct export_options){0}, &length);
    z_stream stream = {.next_in = (unsigned char *)text,
                       .avail_in = (unsigned)length,
                       .next_out = bytes,
                       .avail_out = sizeof(bytes)};

    assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    Pprof__Profile *profile = pprof__profile__unpack(NULL, stream.total_out, bytes);
    assert_non_null(profile);
    inflateEnd(&stream);
    free(text);
    model_free(model);
    return profile;
}

// The text of a label, NULL when the sample has none of that name.
static const char *
label_of(const Pprof__Profile *profile, const Pprof__Sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->n_label; i++) {
        const Pprof__Label *label = sample->label[i];
        if (strcmp(profile->string_table[label->key], name) == 0) {
            return profile->string_table[label->str];
        }
    }
    return NULL;
}

static void
a_class_adds_up_to_what_the_table_says(void **state)
{
    static const struct {
        const char *name;
        int64_t live;
    } classes[] = {
        {"Order",                      MIXED_ORDER_LIVE  },
        {"=HYPER\"LINK;x,\\x1B[2J 12", MIXED_HOSTILE_LIVE},
        {"Torn",                       MIXED_TORN_LIVE   },
    };
    Pprof__Profile *profile = profile_of(mixed_model());

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        int64_t live = 0;
        for (size_t i = 0; i < profile->n_sample; i++) {
            const char *name = label_of(profile, profile->sample[i], "class");
            if (strcmp(name, classes[k].name) == 0) {
                live += profile->sample[i]->value[0];
            }
        }
        assert_int_equal(live, classes[k].live);
    }
    pprof__profile__free_unpacked(profile, NULL);
}

static void
a_figure_that_nobody_knows_is_told_by_a_label(void **state)
{
    Pprof__Profile *profile = profile_of(mixed_model());

    (void)state;
    for (size_t i = 0; i < profile->n_sample; i++) {
        const Pprof__Sample *sample = profile->sample[i];
        const char *unknown = label_of(profile, sample, "live_bytes");
        assert_int_equal(sample->n_value, 3);
        if (unknown) {
            assert_string_equal(unknown, "unknown");
            assert_int_equal(sample->value[1], 0);
        } else {
            assert_true(sample->value[1] > 0 || sample->value[0] == 0);
        }
    }
    pprof__profile__free_unpacked(profile, NULL);
}

static void
the_same_model_is_always_the_same_file(void **state)
{
    size_t lengths[2];
    char *texts[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct model *model = mixed_model();
        texts[i] = mixed_written(model, "pprof", (struct export_options){0}, &lengths[i]);
        model_free(model);
    }
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(texts[0], texts[1], lengths[0]);
    free(texts[0]);
    free(texts[1]);
}

static void
a_model_without_trees_is_a_profile_without_samples(void **state)
{
    Pprof__Profile *profile = profile_of(mixed_empty());

    (void)state;
    assert_int_equal(profile->n_sample, 0);
    assert_int_equal(profile->n_sample_type, 2);
    assert_int_equal(profile->time_nanos, 0);
    assert_string_equal(profile->string_table[0], "");
    pprof__profile__free_unpacked(profile, NULL);
}

static void
says_so_when_the_stream_is_full(void **state)
{
    (void)state;
    mixed_expect_full("pprof");
}

static void
says_so_when_memory_runs_out(void **state)
{
    (void)state;
    mixed_expect_memory("pprof");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_adds_up_to_what_the_table_says),
        cmocka_unit_test(a_figure_that_nobody_knows_is_told_by_a_label),
        cmocka_unit_test(the_same_model_is_always_the_same_file),
        cmocka_unit_test(a_model_without_trees_is_a_profile_without_samples),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
