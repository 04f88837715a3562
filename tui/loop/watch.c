#include "tui/loop/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tui/app_run.h"
#include "tui/loop/editor.h"
#include "tui/loop/save.h"

static void on_resize(uv_signal_t *handle, int number);
static void on_end(uv_signal_t *handle, int number);
static void on_stop(uv_signal_t *handle, int number);
static void on_continue(uv_signal_t *handle, int number);

static const struct {
    int number;
    uv_signal_cb act;
} signals[] = {
    {SIGWINCH, on_resize  },
    {SIGTERM,  on_end     },
    {SIGHUP,   on_end     },
    {SIGINT,   on_end     },
    {SIGQUIT,  on_end     },
    {SIGTSTP,  on_stop    },
    {SIGCONT,  on_continue},
};

#define SIGNALS (sizeof(signals) / sizeof(*signals))

struct watch {
    uv_loop_t *loop;       // borrowed
    struct app *app;       // borrowed
    int input;             // descriptor of the keyboard
    struct screen *screen; // owned
    struct grid grid;
    bool everything; // the next drawing writes every cell
    uint64_t drawn_ms;
    int signal; // that asked for the end
    bool failed;
    void (*outside)(void *context, unsigned reactions); // or NULL
    void *outside_context;

    uv_poll_t keyboard;
    uv_timer_t tick;
    uv_timer_t frame; // active while data waits to be drawn
    uv_signal_t signals[SIGNALS];
    int handles; // those of the above that libuv still knows
};

static uint64_t
now_ms(void)
{
    return uv_hrtime() / 1000000;
}

/*
 * Drawing.
 */

static bool
fit_grid(struct watch *watch)
{
    int rows = screen_rows(watch->screen);
    int columns = screen_columns(watch->screen);

    if (watch->grid.rows == rows && watch->grid.columns == columns) {
        return true;
    }
    return grid_resize(&watch->grid, rows, columns);
}

static void
draw(struct watch *watch)
{
    uint64_t now = now_ms();

    uv_timer_stop(&watch->frame);
    if (!fit_grid(watch)) {
        watch->failed = true;
        uv_stop(watch->loop);
        return;
    }
    app_draw(watch->app, &watch->grid, now);
    screen_show(watch->screen, &watch->grid, watch->everything);
    watch->everything = false;
    watch->drawn_ms = now;
}

static void
on_frame(uv_timer_t *timer)
{
    draw(timer->data);
}

// Draw once for all that arrives within a frame's time.
static void
draw_soon(struct watch *watch)
{
    uint64_t elapsed = now_ms() - watch->drawn_ms;

    if (!uv_is_active((uv_handle_t *)&watch->frame)) {
        uint64_t wait = elapsed < WATCH_FRAME_MS ? WATCH_FRAME_MS - elapsed : 0;
        uv_timer_start(&watch->frame, on_frame, wait, 0);
    }
}

/*
 * Reactions.
 */

static unsigned
write_screen(struct watch *watch)
{
    const char *path = app_write_path(watch->app);
    char words[512];
    bool good = false;

    if (!path) {
        return REACT_NOTHING;
    }
    // as it is without the command line that asked for it
    app_draw(watch->app, &watch->grid, now_ms());
    char *text = grid_text(&watch->grid);
    if (text) {
        good = save_text(path, text, words, sizeof(words));
    } else {
        snprintf(words, sizeof(words), "cannot write %s: out of memory", path);
    }
    free(text);
    return app_say(watch->app, !good, words, now_ms());
}

static void
take_terminal_again(struct watch *watch)
{
    screen_resume(watch->screen);
    watch->everything = true;
    draw(watch);
}

/*
 * Stop as the shell expects it: ^Z stops the whole job, a signal this process.
 * Where no shell could wake us, the kernel drops SIGTSTP and we go straight on.
 */
static void
stop_here(struct watch *watch, pid_t who)
{
    size_t stop = 0;

    while (signals[stop].number != SIGTSTP) {
        stop++;
    }
    screen_suspend(watch->screen);
    uv_signal_stop(&watch->signals[stop]);
    kill(who, SIGTSTP);
    uv_signal_start(&watch->signals[stop], on_stop, SIGTSTP);
    take_terminal_again(watch);
}

// Until the editor ends nothing is read from the probe: it drops what it cannot send.
static unsigned
edit(struct watch *watch)
{
    char why[256];
    uint32_t line = 0;
    const char *path = app_edit_path(watch->app, &line);

    screen_suspend(watch->screen);
    bool good = editor_run(path, line, why, sizeof(why));
    take_terminal_again(watch);
    return good ? REACT_DRAW : app_say(watch->app, true, why, now_ms());
}

// All but drawing. Returns the reactions that are left.
static unsigned
obey(struct watch *watch, unsigned reactions)
{
    if (reactions & REACT_QUIT) {
        uv_stop(watch->loop);
    }
    if (reactions & REACT_MOUSE) {
        screen_mouse(watch->screen, app_wants_mouse(watch->app));
    }
    if (reactions & REACT_WRITE) {
        reactions |= write_screen(watch);
    }
    if (reactions & REACT_EDIT) {
        reactions |= edit(watch);
    }
    if (reactions & REACT_SUSPEND) {
        stop_here(watch, 0);
    }
    if (reactions & REACT_REDRAW) {
        watch->everything = true;
    }
    if (watch->outside && reactions & (REACT_FLEET | REACT_TARGET)) {
        watch->outside(watch->outside_context, reactions);
    }
    return reactions & (REACT_DRAW | REACT_REDRAW);
}

void
watch_outside(struct watch *watch, void (*act)(void *context, unsigned reactions),
              void *context)
{
    watch->outside = act;
    watch->outside_context = context;
}

void
watch_react(struct watch *watch, unsigned reactions)
{
    if (obey(watch, reactions)) {
        draw_soon(watch);
    }
}

/*
 * Keys.
 */

// Readable, and yet no byte: the other end of the terminal is gone.
static bool
terminal_gone(int descriptor)
{
    struct pollfd look = {.fd = descriptor, .events = POLLIN};
    int waiting = 0;

    if (poll(&look, 1, 0) < 0 || ioctl(descriptor, FIONREAD, &waiting) != 0) {
        return true;
    }
    return look.revents & (POLLHUP | POLLERR | POLLNVAL) ||
           (look.revents & POLLIN && waiting == 0);
}

static unsigned
take_key(struct watch *watch, struct key key, uint64_t now)
{
    bool quits = key.code == KEY_CONTROL('C') && !app_command_runs(watch->app);

    return quits ? (unsigned)REACT_QUIT : app_key(watch->app, key, now);
}

static void
on_keyboard(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    unsigned left = REACT_NOTHING;
    int keys = 0;
    struct key key;

    (void)events;
    while (keys < WATCH_KEYS_MAX && screen_key(watch->screen, now_ms(), &key)) {
        unsigned reactions = take_key(watch, key, now_ms());
        left |= obey(watch, reactions);
        keys++;
        if (reactions & REACT_QUIT) {
            return;
        }
    }
    if (left) {
        draw(watch);
    }
    if (status < 0 || (keys == 0 && terminal_gone(watch->input))) {
        uv_stop(watch->loop);
    }
}

/*
 * The clock and signals.
 */

static void
on_tick(uv_timer_t *timer)
{
    struct watch *watch = timer->data;

    watch_react(watch, app_tick(watch->app, now_ms()));
}

static void
on_resize(uv_signal_t *handle, int number)
{
    struct watch *watch = handle->data;

    (void)number;
    screen_resize(watch->screen);
    draw(watch);
}

static void
on_end(uv_signal_t *handle, int number)
{
    struct watch *watch = handle->data;

    watch->signal = number;
    uv_stop(watch->loop);
}

static void
on_stop(uv_signal_t *handle, int number)
{
    (void)number;
    stop_here(handle->data, getpid());
}

// The shell may have used the terminal meanwhile, and changed its modes.
static void
on_continue(uv_signal_t *handle, int number)
{
    (void)number;
    take_terminal_again(handle->data);
}

/*
 * Its life.
 */

static void
init_handles(struct watch *watch)
{
    uv_timer_init(watch->loop, &watch->tick);
    uv_timer_init(watch->loop, &watch->frame);
    watch->tick.data = watch;
    watch->frame.data = watch;
    watch->keyboard.data = watch;
    watch->handles = 3;
    // before curses opens, which then leaves these signals to us
    for (size_t i = 0; i < SIGNALS; i++) {
        uv_signal_init(watch->loop, &watch->signals[i]);
        watch->signals[i].data = watch;
        uv_signal_start(&watch->signals[i], signals[i].act, signals[i].number);
        watch->handles++;
    }
}

/*
 * libuv makes what it polls non-blocking. Not so the terminal: the setting is
 * shared with every process that has it open, and the shell would inherit it.
 */
static bool
poll_keyboard(struct watch *watch)
{
    int flags = fcntl(watch->input, F_GETFL);

    if (flags < 0 || uv_poll_init(watch->loop, &watch->keyboard, watch->input) != 0) {
        return false;
    }
    fcntl(watch->input, F_SETFL, flags);
    return true;
}

struct watch *
watch_open(uv_loop_t *loop, struct app *app, const struct screen_options *options)
{
    struct watch *watch = calloc(1, sizeof(*watch));

    if (!watch) {
        return NULL;
    }
    watch->loop = loop;
    watch->app = app;
    watch->input = fileno(options->in);
    if (!poll_keyboard(watch)) {
        free(watch);
        return NULL;
    }
    init_handles(watch);
    watch->screen = screen_open(options);
    if (!watch->screen) {
        watch_close(watch);
        return NULL;
    }
    uv_poll_start(&watch->keyboard, UV_READABLE, on_keyboard);
    uv_timer_start(&watch->tick, on_tick, WATCH_TICK_MS, WATCH_TICK_MS);
    watch->everything = true;
    draw(watch);
    return watch;
}

int
watch_signal(const struct watch *watch)
{
    return watch->signal;
}

bool
watch_failed(const struct watch *watch)
{
    return watch->failed;
}

static void
on_closed(uv_handle_t *handle)
{
    struct watch *watch = handle->data;

    if (--watch->handles == 0) {
        free(watch);
    }
}

void
watch_close(struct watch *watch)
{
    if (!watch) {
        return;
    }
    screen_close(watch->screen);
    grid_destroy(&watch->grid);
    uv_close((uv_handle_t *)&watch->keyboard, on_closed);
    uv_close((uv_handle_t *)&watch->tick, on_closed);
    uv_close((uv_handle_t *)&watch->frame, on_closed);
    for (size_t i = 0; i < SIGNALS; i++) {
        uv_close((uv_handle_t *)&watch->signals[i], on_closed);
    }
}
