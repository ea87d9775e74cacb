/* test_weights.c: values from and to a .safetensors file: a tiny network gives PyTorch's numbers
 * with them, and a broken file is a status with a reason, never a crash. */
#include "golden.h"

#include <sys/stat.h>
#include <unistd.h>

#include "run/safetensors.h"

static fxs_module *load_tiny(fxs_ctx *ctx) {
    size_t len;
    char *text = read_test_file("golden/weights/tiny.fx", &len);
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "tiny.fx", text, len, &m));
    fxs_free(text);
    return m;
}

static void tiny_path(char path[1024]) {
    const char *tests = getenv("FXS_TESTS");
    snprintf(path, 1024, "%s/golden/weights/tiny.safetensors", tests ? tests : "tests");
}

/* Input as the script that made the files has it: 0/50 - 1, 1/50 - 1, ... */
static fxs_value run_tiny(fxs_ctx *ctx, fxs_module *m) {
    fxs_tensor *x;
    fxs_interpreter *it;
    fxs_value result, input;
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_FLOAT32, SIZES(1, 3, 6, 6), &x));
    for (int i = 0; i < 108; i++)
        ((float *)fxs_tensor_data(x))[i] = (float)i / 50 - 1;
    input = fxs_of_tensor(x);
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_ok(ctx, fxs_interpreter_run(it, &input, 1, &result));
    fxs_interpreter_free(it);
    fxs_value_unref(&input);
    return result;
}

static void a_network_gives_the_numbers_of_its_weights(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load_tiny(ctx);
    char path[1024], *notes, *want = read_test_file("golden/weights/tiny.txt", NULL), *at = want;
    tiny_path(path);
    assert_ok(ctx, fxs_module_load_weights(m, path, &notes));
    assert_null(notes);
    assert_true(
        fxs_module_attribute(fxs_module_find(m, "conv"), "weight", 6)->data->storage->file != NULL);
    for (int run = 0; run < 2; run++) { /* values stay after a run */
        fxs_value y = run_tiny(ctx, m);
        at = want;
        for (int i = 0; i < 3; i++)
            assert_near(nth(y.u.tensor, i), strtod(at, &at), 1e-6);
        fxs_value_unref(&y);
    }
    fxs_module_unref(m);
    fxs_free(want);
}

/* A file of the given bytes, removed by the caller. */
static void write_file(char path[64], const char *data, size_t len) {
    strcpy(path, "/tmp/fxs-weights-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), (ssize_t)len);
    close(fd);
}

static void header_file(char path[64], const char *header, size_t data) {
    char bytes[1024] = {0};
    size_t n = strlen(header);
    bytes[0] = (char)(n & 0xff), bytes[1] = (char)(n >> 8);
    memcpy(bytes + 8, header, n);
    write_file(path, bytes, 8 + n + data);
}

static void refused(fxs_ctx *ctx, fxs_module *m, const char *path, fxs_status status,
                    const char *reason) {
    char *notes;
    fxs_status s = fxs_module_load_weights(m, path, &notes);
    if (s != status || !strstr(fxs_ctx_error(ctx), reason))
        fprintf(stderr, "have %s: %s\nwant %s\n", fxs_status_name(s), fxs_ctx_error(ctx), reason);
    assert_int_equal(s, status);
    assert_non_null(strstr(fxs_ctx_error(ctx), reason));
    assert_null(notes);
    fxs_ctx_clear(ctx);
}

static void broken_files_are_refused_with_a_reason(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *header, *reason;
        size_t data;
        fxs_status status;
    } bad[] = {
        {"[]", "no JSON object", 0, FXS_EPARSE},
        {"{", "can't be parsed", 0, FXS_EPARSE},
        {"{\"a\":1,\"a\":2}", "can't be parsed", 0, FXS_EPARSE},
        {"{}", "none of its tensors", 0, FXS_EPARSE},
        {"{\"fc.bias\":{}}", "dtype is not known", 0, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F3\",\"shape\":[3],\"data_offsets\":[0,12]}}",
         "dtype is not known", 12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":3,\"data_offsets\":[0,12]}}", "needs a shape",
         12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[-3],\"data_offsets\":[0,12]}}", "whole number",
         12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,12]}}",
         "whole number", 12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0]}}", "two data_offsets",
         12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", "do not fit", 12,
         FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[4,16]}}", "do not fit",
         12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[-4,8]}}", "do not fit",
         12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[9223372036854775807,0]}}",
         "do not fit", 12, FXS_EPARSE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", "has shape [4]",
         16, FXS_ESHAPE},
        {"{\"fc.bias\":{\"dtype\":\"C64\",\"shape\":[3],\"data_offsets\":[0,24]}}",
         "does not become", 24, FXS_ETYPE},
        {"{\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}"
         "}",
         "", 0, FXS_ELIMIT},
    };
    fxs_module *m = load_tiny(ctx);
    char path[64];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        header_file(path, bad[i].header, bad[i].data);
        refused(ctx, m, path, bad[i].status, bad[i].reason);
        unlink(path);
    }
    write_file(path, "1234567", 7);
    refused(ctx, m, path, FXS_EPARSE, "shorter than its length");
    unlink(path);
    write_file(path, "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
    refused(ctx, m, path, FXS_EPARSE, "longer than the file");
    unlink(path);
    write_file(path, "", 0);
    refused(ctx, m, path, FXS_EPARSE, "shorter than its length");
    unlink(path);
    refused(ctx, m, path, FXS_EIO, "can't be opened");
    refused(ctx, m, "/tmp", FXS_EIO, "no regular file");
    fxs_module_unref(m);
}

static void other_types_are_converted_and_odd_places_copied(void **state) {
    fxs_ctx *ctx = *state;
    char bytes[256] = {0}, path[64], *notes;
    static const char header[] =
        "{\"fc.bias\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},"
        "\"no.such\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[6,7]}}  ";
    static const uint16_t half[] = {0x3c00, 0xc000, 0x3800};    /* 1, -2, 0.5 */
    size_t n = sizeof header - 1 - (sizeof header % 2 ? 0 : 1); /* an odd place for the data */
    fxs_module *m = load_tiny(ctx);
    bytes[0] = (char)n;
    memcpy(bytes + 8, header, n);
    memcpy(bytes + 8 + n, half, sizeof half);
    write_file(path, bytes, 8 + n + 7);
    assert_ok(ctx, fxs_module_load_weights(m, path, &notes));
    assert_non_null(strstr(notes, "the model has no 'no.such'"));
    assert_non_null(strstr(notes, "there is no 'conv.weight' in it"));
    assert_null(strstr(notes, "fc.bias"));
    fxs_free(notes);
    const fxs_tensor *t = fxs_module_attribute(fxs_module_find(m, "fc"), "bias", 4)->data;
    assert_int_equal(t->dtype, FXS_FLOAT32);
    assert_true(t->requires_grad);
    assert_near(nth(t, 0), 1, 0);
    assert_near(nth(t, 1), -2, 0);
    assert_near(nth(t, 2), 0.5, 0);
    unlink(path);
    fxs_module_unref(m);
}

/* Every shorter file, and every file with one byte changed: a status, or weights. */
static void damage_is_survived(void **state) {
    fxs_ctx *ctx = *state;
    size_t len;
    char *file = read_test_file("golden/weights/tiny.safetensors", &len), path[64], *notes;
    fxs_module *m = load_tiny(ctx);
    size_t header = 8 + ((size_t)(unsigned char)file[0] | (size_t)(unsigned char)file[1] << 8);
    for (size_t i = 0; i < header * 2; i++) {
        char kept = file[i / 2];
        if (i % 2)
            file[i / 2] ^= (char)(1 << i / 2 % 8);
        write_file(path, file, i % 2 ? len : i / 2);
        if (fxs_module_load_weights(m, path, &notes) == FXS_OK)
            fxs_free(notes);
        fxs_ctx_clear(ctx);
        file[i / 2] = kept;
        unlink(path);
    }
    fxs_module_unref(m);
    fxs_free(file);
}

/* ---- saving
 * --------------------------------------------------------------------------------------------- */

/* A name in a folder that is made for it; the caller removes both. */
static void saved_path(char folder[64], char path[96]) {
    strcpy(folder, "/tmp/fxs-saved-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, 96, "%s/w.safetensors", folder);
}

static char *file_bytes(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    char *bytes = fxs_alloc0(1, 1 << 16);
    assert_non_null(f);
    *len = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static void saved_weights_are_the_same_bytes(void **state) {
    fxs_ctx *ctx = *state;
    char given[1024], folder[64], path[96], *notes, *first, *again;
    size_t n, n_again;
    fxs_module *m = load_tiny(ctx), *back = load_tiny(ctx);
    tiny_path(given);
    saved_path(folder, path);
    assert_ok(ctx, fxs_module_load_weights(m, given, &notes));
    assert_ok(ctx, fxs_module_save_weights(m, path, false));
    assert_ok(ctx, fxs_module_load_weights(back, path, &notes));
    assert_null(notes);
    first = file_bytes(path, &n);
    fxs_value a = run_tiny(ctx, m), b = run_tiny(ctx, back);
    assert_memory_equal(fxs_tensor_data(a.u.tensor), fxs_tensor_data(b.u.tensor), 3 * 4);
    assert_ok(ctx, fxs_module_save_weights(back, path, true)); /* over the file it is mapped from */
    again = file_bytes(path, &n_again);
    assert_int_equal(n, n_again);
    assert_memory_equal(first, again, n);
    assert_int_equal(first[0] % 8, 0);
    fxs_value_unref(&a);
    fxs_value_unref(&b);
    fxs_free(first);
    fxs_free(again);
    fxs_module_unref(m);
    fxs_module_unref(back);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* and no other file is left */
}

static void values_of_the_seed_are_saved_with_all(void **state) {
    fxs_ctx *ctx = *state;
    char folder[64], path[96], *notes;
    size_t n;
    fxs_module *m = load_tiny(ctx), *back = load_tiny(ctx);
    saved_path(folder, path);
    assert_ok(ctx, fxs_module_save_weights(m, path, false));
    char *none = file_bytes(path, &n);
    assert_memory_equal(none + 8, "{}      ", n - 8);
    assert_ok(ctx, fxs_module_save_weights(m, path, true));
    assert_null(fxs_module_attribute(fxs_module_find(m, "fc"), "weight", 6)->data);
    fxs_value want = run_tiny(ctx, m);
    fxs_ctx_set_seed(ctx, 7); /* matters no more */
    assert_ok(ctx, fxs_module_load_weights(back, path, &notes));
    assert_null(notes);
    fxs_value have = run_tiny(ctx, back);
    fxs_ctx_set_seed(ctx, 0);
    assert_memory_equal(fxs_tensor_data(want.u.tensor), fxs_tensor_data(have.u.tensor), 3 * 4);
    fxs_value_unref(&want);
    fxs_value_unref(&have);
    fxs_free(none);
    fxs_module_unref(m);
    fxs_module_unref(back);
    unlink(path);
    rmdir(folder);
}

/* A tensor of each dtype that the format knows, one of no element, one that is not contiguous, and
 * one under two names. */
static void dtypes_views_and_shared_tensors_are_saved(void **state) {
    fxs_ctx *ctx = *state;
    char folder[64], path[96], *notes;
    fxs_module *m[2];
    size_t put = 0;
    saved_path(folder, path);
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, fxs_module_new(ctx, "M", NULL, NULL, &m[k]));
        for (fxs_dtype d = 0; d < FXS_DTYPE_COUNT; d++) {
            fxs_tensor *t;
            if (!fxs_safetensors_code(d))
                continue;
            assert_ok(ctx, fxs_tensor_new(ctx, d, SIZES(2, 3), &t));
            for (size_t i = 0; k == 0 && i < 6 * fxs_dtype_size(d); i++)
                ((unsigned char *)fxs_tensor_data(t))[i] = d == FXS_BOOL ? i % 2 : i + d;
            if (d == FXS_FLOAT32) { /* its transpose */
                t->sizes[0] = 3, t->sizes[1] = 2;
                t->strides[0] = 1, t->strides[1] = 3;
            }
            assert_ok(ctx, fxs_module_put_tensor(m[k], fxs_dtype_name(d), true, t));
            fxs_tensor_unref(t);
            put++;
        }
        fxs_tensor *empty;
        assert_ok(ctx, fxs_tensor_new(ctx, FXS_INT16, SIZES(0, 3), &empty));
        assert_ok(ctx, fxs_module_put_tensor(m[k], "empty", true, empty));
        fxs_tensor_unref(empty);
        assert_ok(ctx, fxs_module_share(m[k], "twin", fxs_module_attribute(m[k], "int64", 5)));
    }
    assert_int_equal(put, 2 * 16);
    assert_ok(ctx, fxs_module_save_weights(m[0], path, false));
    assert_ok(ctx, fxs_module_load_weights(m[1], path, &notes));
    assert_null(notes);
    for (size_t i = 0; i < m[0]->nattributes; i++) {
        const fxs_tensor *a = m[0]->attributes[i].param->data, *b = m[1]->attributes[i].param->data;
        assert_int_equal(a->dtype, b->dtype);
        assert_true(b->storage->file || !fxs_tensor_numel(b)); /* it lies well: nothing is copied */
        if (a->dtype == FXS_FLOAT32)
            for (int e = 0; e < 6; e++)
                assert_memory_equal((float *)fxs_tensor_data(a) + e / 2 + e % 2 * 3,
                                    (float *)fxs_tensor_data(b) + e, 4);
        else
            assert_memory_equal(fxs_tensor_data(a), fxs_tensor_data(b),
                                (size_t)fxs_tensor_numel(a) * fxs_dtype_size(a->dtype));
    }
    assert_ptr_equal(fxs_module_attribute(m[1], "twin", 4), fxs_module_attribute(m[1], "int64", 5));
    fxs_module_unref(m[0]);
    fxs_module_unref(m[1]);
    unlink(path);
    rmdir(folder);
}

static void what_cannot_be_saved_leaves_the_file_as_it_was(void **state) {
    fxs_ctx *ctx = *state;
    char path[64];
    size_t n;
    fxs_tensor *t;
    fxs_module *m = load_tiny(ctx);
    assert_int_equal(fxs_module_save_weights(m, "/no/such/folder/w", true), FXS_EIO);
    assert_non_null(strstr(fxs_ctx_error(ctx), "/no/such/folder/w"));
    fxs_ctx_clear(ctx);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(fxs_module_save_weights(m, "/dev/full", true), FXS_EIO);
        assert_non_null(strstr(fxs_ctx_error(ctx), "/dev/full"));
        fxs_ctx_clear(ctx);
    }
    write_file(path, "old", 3);
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_COMPLEX128, SIZES(2), &t));
    assert_ok(ctx, fxs_module_put_tensor(m, "z", true, t));
    fxs_tensor_unref(t);
    assert_int_equal(fxs_module_save_weights(m, path, true), FXS_ETYPE);
    assert_non_null(strstr(fxs_ctx_error(ctx), "'z' is complex128"));
    fxs_ctx_clear(ctx);
    char *old = file_bytes(path, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(old, "old", 3);
    fxs_free(old);
    unlink(path);
    fxs_module_unref(m);
}

/* Somebody who may write the file, but make no other one beside it. */
static void lock_folder(const char *folder, const char *path) {
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    if (geteuid() == 0)
        assert_int_equal(seteuid(65534), 0);
}

static void unlock_folder(const char *folder) {
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0755), 0);
}

static void a_file_in_a_locked_folder_is_written_over_as_a_whole(void **state) {
    fxs_ctx *ctx = *state;
    char given[1024], folder[64], path[96], *notes;
    size_t n, n_again;
    fxs_module *m = load_tiny(ctx), *back = load_tiny(ctx);
    tiny_path(given);
    saved_path(folder, path);
    assert_ok(ctx, fxs_module_load_weights(m, given, &notes));
    assert_ok(ctx, fxs_module_save_weights(m, path, true));
    assert_ok(ctx, fxs_module_load_weights(back, path, &notes));
    char *first = file_bytes(path, &n);
    lock_folder(folder, path);
    /* Its own source would be gone before it is read: refused, and nothing has changed. */
    assert_int_equal(fxs_module_save_weights(back, path, true), FXS_EIO);
    assert_non_null(strstr(fxs_ctx_error(ctx), "values are read from it"));
    fxs_ctx_clear(ctx);
    char *again = file_bytes(path, &n_again);
    assert_int_equal(n, n_again);
    assert_memory_equal(first, again, n);
    fxs_free(again);
    /* An error on the way leaves the file as it was. */
    fxs_module_unref(back);
    back = load_tiny(ctx);
    fxs_status s = FXS_ENOMEM;
    for (long limit = 0; s != FXS_OK; limit++) {
        again = file_bytes(path, &n_again);
        assert_int_equal(n, n_again);
        assert_memory_equal(first, again, n);
        fxs_free(again);
        fxs_alloc_fail_after(limit);
        s = fxs_module_save_weights(back, path, true);
        fxs_alloc_fail_after(-1);
        assert_true(s == FXS_OK || s == FXS_ENOMEM);
        fxs_ctx_clear(ctx);
    }
    again = file_bytes(path, &n_again);
    assert_memory_not_equal(first, again, n);
    fxs_free(again);
    /* What takes its place may be fewer bytes. */
    assert_ok(ctx, fxs_module_save_weights(back, path, false));
    again = file_bytes(path, &n_again);
    assert_true(n_again < n);
    fxs_free(again);
    assert_ok(ctx, fxs_module_save_weights(m, path, true));
    again = file_bytes(path, &n_again);
    assert_int_equal(n, n_again);
    assert_memory_equal(first, again, n);
    unlock_folder(folder);
    fxs_free(first);
    fxs_free(again);
    fxs_module_unref(m);
    fxs_module_unref(back);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_gives_the_numbers_of_its_weights),
        cmocka_unit_test(broken_files_are_refused_with_a_reason),
        cmocka_unit_test(other_types_are_converted_and_odd_places_copied),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(saved_weights_are_the_same_bytes),
        cmocka_unit_test(values_of_the_seed_are_saved_with_all),
        cmocka_unit_test(dtypes_views_and_shared_tensors_are_saved),
        cmocka_unit_test(what_cannot_be_saved_leaves_the_file_as_it_was),
        cmocka_unit_test(a_file_in_a_locked_folder_is_written_over_as_a_whole),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
