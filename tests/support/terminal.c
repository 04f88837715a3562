#include "support/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <utmp.h>
#include <vterm.h>

#define TURN_MS 20

struct terminal {
    int master;
    int slave; // kept open, so that its modes can be read after the end
    pid_t pid;
    bool ended;
    int status;
    VTerm *emulator;
    VTermScreen *screen;
    int rows;
    int columns;
    bool alternate;
    bool cursor;
    int mouse;
    char *written; // owned, terminated
    size_t written_bytes;
};

static void
die(const char *what)
{
    fprintf(stderr, "terminal: %s: %s\n", what, strerror(errno));
    abort();
}

static int
on_property(VTermProp property, VTermValue *value, void *context)
{
    struct terminal *terminal = context;

    switch (property) {
    case VTERM_PROP_ALTSCREEN:
        terminal->alternate = value->boolean;
        break;
    case VTERM_PROP_CURSORVISIBLE:
        terminal->cursor = value->boolean;
        break;
    case VTERM_PROP_MOUSE:
        terminal->mouse = value->number;
        break;
    default:
        break;
    }
    return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

static void
send_bytes(const char *bytes, size_t length, void *context)
{
    const struct terminal *terminal = context;

    while (length > 0) {
        ssize_t wrote = write(terminal->master, bytes, length);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            return; // the command is gone, the test will see that
        }
        bytes += wrote;
        length -= (size_t)wrote;
    }
}

static void
set_environment(const char *const *environment)
{
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    unsetenv("LINES");
    unsetenv("COLUMNS");
    for (; environment && *environment; environment++) {
        if (strchr(*environment, '=')) {
            putenv(strdup(*environment));
        } else {
            unsetenv(*environment);
        }
    }
}

static void
become(const struct terminal_options *options)
{
    set_environment(options->environment);
    if (options->run) {
        options->run(options->context);
        _exit(0);
    }
    execvp(options->arguments[0], (char *const *)options->arguments);
    fprintf(stderr, "cannot run %s: %s\n", options->arguments[0], strerror(errno));
    _exit(127);
}

static pid_t
spawn(struct terminal *terminal, const struct terminal_options *options)
{
    pid_t pid = fork();

    if (pid == 0) {
        close(terminal->master);
        if (login_tty(terminal->slave) != 0) {
            _exit(126);
        }
        become(options);
    }
    return pid;
}

struct terminal *
terminal_start(const struct terminal_options *options)
{
    struct terminal *terminal = calloc(1, sizeof(*terminal));
    struct winsize size = {
        .ws_row = (unsigned short)(options->rows ? options->rows : 30),
        .ws_col = (unsigned short)(options->columns ? options->columns : 100),
    };

    if (!terminal ||
        openpty(&terminal->master, &terminal->slave, NULL, NULL, &size) != 0) {
        die("openpty");
    }
    fcntl(terminal->master, F_SETFD, FD_CLOEXEC);
    fcntl(terminal->slave, F_SETFD, FD_CLOEXEC);
    terminal->rows = size.ws_row;
    terminal->columns = size.ws_col;
    terminal->cursor = true;
    terminal->written = calloc(1, 1);
    terminal->emulator = vterm_new(terminal->rows, terminal->columns);
    vterm_set_utf8(terminal->emulator, 1);
    vterm_output_set_callback(terminal->emulator, send_bytes, terminal);
    terminal->screen = vterm_obtain_screen(terminal->emulator);
    vterm_screen_set_callbacks(terminal->screen, &callbacks, terminal);
    vterm_screen_enable_altscreen(terminal->screen, 1);
    vterm_screen_reset(terminal->screen, 1);
    terminal->pid = spawn(terminal, options);
    if (terminal->pid < 0) {
        die("fork");
    }
    return terminal;
}

pid_t
terminal_pid(const struct terminal *terminal)
{
    return terminal->pid;
}

/*
 * Reading.
 */

static void
keep(struct terminal *terminal, const char *bytes, size_t length)
{
    char *more = realloc(terminal->written, terminal->written_bytes + length + 1);

    if (!more) {
        die("realloc");
    }
    memcpy(more + terminal->written_bytes, bytes, length);
    terminal->written = more;
    terminal->written_bytes += length;
    more[terminal->written_bytes] = '\0';
    vterm_input_write(terminal->emulator, bytes, length);
}

// Take what is there, waiting at most so long for the first of it.
static bool
take(struct terminal *terminal, int timeout_ms)
{
    struct pollfd look = {.fd = terminal->master, .events = POLLIN};
    char bytes[16384];
    bool any = false;

    while (poll(&look, 1, any ? 0 : timeout_ms) > 0 && look.revents & POLLIN) {
        ssize_t length = read(terminal->master, bytes, sizeof(bytes));
        if (length <= 0) {
            break;
        }
        keep(terminal, bytes, (size_t)length);
        any = true;
    }
    return any;
}

void
terminal_look(struct terminal *terminal)
{
    take(terminal, 0);
}

static time_t
seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

// A command that has ended writes no more: what did not come will not.
static bool
ended(struct terminal *terminal, void *context)
{
    (void)context;
    if (!terminal->ended &&
        waitpid(terminal->pid, &terminal->status, WNOHANG) == terminal->pid) {
        terminal->ended = true;
    }
    return terminal->ended;
}

static bool
in_vain(const struct terminal *terminal, const char *what)
{
    char *text = terminal_text(terminal);

    fprintf(stderr, "waited in vain for: %s%s\n%s\n", what,
            terminal->ended ? " (the command ended)" : "", text);
    free(text);
    return false;
}

bool
terminal_until(struct terminal *terminal, const char *what,
               bool (*holds)(struct terminal *terminal, void *context), void *context)
{
    time_t deadline = seconds() + TERMINAL_DEADLINE_S;

    take(terminal, 0);
    while (!holds(terminal, context)) {
        bool over = ended(terminal, NULL) || seconds() >= deadline;
        bool more = take(terminal, over ? 0 : TURN_MS);
        if (over && !more) {
            return holds(terminal, context) || in_vain(terminal, what);
        }
    }
    return true;
}

struct sight {
    int row; // -1 for any
    const char *text;
};

static bool
row_has(const struct terminal *terminal, int row, const char *text)
{
    char *line = terminal_row(terminal, row);
    bool has = strstr(line, text) != NULL;

    free(line);
    return has;
}

int
terminal_find(const struct terminal *terminal, const char *text)
{
    for (int row = 0; row < terminal->rows; row++) {
        if (row_has(terminal, row, text)) {
            return row;
        }
    }
    return -1;
}

static bool
seen(struct terminal *terminal, void *context)
{
    const struct sight *sight = context;

    return sight->row < 0 ? terminal_find(terminal, sight->text) >= 0
                          : row_has(terminal, sight->row, sight->text);
}

static bool
not_seen(struct terminal *terminal, void *context)
{
    return !seen(terminal, context);
}

bool
terminal_shows(struct terminal *terminal, const char *text)
{
    struct sight sight = {-1, text};

    return terminal_until(terminal, text, seen, &sight);
}

bool
terminal_hides(struct terminal *terminal, const char *text)
{
    struct sight sight = {-1, text};

    return terminal_until(terminal, text, not_seen, &sight);
}

bool
terminal_row_shows(struct terminal *terminal, int row, const char *text)
{
    struct sight sight = {row, text};

    return terminal_until(terminal, text, seen, &sight);
}

/*
 * What the screen shows.
 */

char *
terminal_row(const struct terminal *terminal, int row)
{
    size_t capacity = (size_t)terminal->columns * 16 + 1;
    char *line = calloc(1, capacity);
    const VTermRect place = {row, row + 1, 0, terminal->columns};

    if (!line) {
        die("calloc");
    }
    size_t length = vterm_screen_get_text(terminal->screen, line, capacity - 1, place);
    while (length > 0 && line[length - 1] == ' ') {
        length--;
    }
    line[length] = '\0';
    return line;
}

char *
terminal_text(const struct terminal *terminal)
{
    char *text = calloc((size_t)terminal->rows, (size_t)terminal->columns * 16 + 2);
    size_t length = 0;

    if (!text) {
        die("calloc");
    }
    for (int row = 0; row < terminal->rows; row++) {
        char *line = terminal_row(terminal, row);
        length += (size_t)sprintf(text + length, "%s\n", line);
        free(line);
    }
    return text;
}

static int
palette_index(VTermColor color)
{
    return VTERM_COLOR_IS_DEFAULT_FG(&color) || VTERM_COLOR_IS_DEFAULT_BG(&color) ||
                   !VTERM_COLOR_IS_INDEXED(&color)
               ? -1
               : color.indexed.idx;
}

struct terminal_cell
terminal_cell(const struct terminal *terminal, int row, int column)
{
    VTermScreenCell cell;
    struct terminal_cell out = {.text = ""};
    const VTermRect place = {row, row + 1, column, column + 1};

    vterm_screen_get_cell(terminal->screen, (VTermPos){row, column}, &cell);
    size_t length =
        vterm_screen_get_text(terminal->screen, out.text, sizeof(out.text) - 1, place);
    out.text[length] = '\0';
    out.foreground = palette_index(cell.fg);
    out.background = palette_index(cell.bg);
    out.bold = cell.attrs.bold;
    out.reverse = cell.attrs.reverse;
    out.underline = cell.attrs.underline != 0;
    return out;
}

bool
terminal_alternate(const struct terminal *terminal)
{
    return terminal->alternate;
}

bool
terminal_cursor_visible(const struct terminal *terminal)
{
    return terminal->cursor;
}

bool
terminal_mouse(const struct terminal *terminal)
{
    return terminal->mouse != VTERM_PROP_MOUSE_NONE;
}

struct termios
terminal_modes(const struct terminal *terminal)
{
    struct termios modes;

    if (tcgetattr(terminal->slave, &modes) != 0) {
        die("tcgetattr");
    }
    return modes;
}

int
terminal_flags(const struct terminal *terminal)
{
    return fcntl(terminal->slave, F_GETFL);
}

const char *
terminal_written(const struct terminal *terminal)
{
    return terminal->written;
}

size_t
terminal_written_bytes(const struct terminal *terminal)
{
    return terminal->written_bytes;
}

/*
 * What a person does.
 */

void
terminal_type(struct terminal *terminal, const char *keys)
{
    send_bytes(keys, strlen(keys), terminal);
}

void
terminal_click(struct terminal *terminal, int row, int column)
{
    vterm_mouse_move(terminal->emulator, row, column, VTERM_MOD_NONE);
    vterm_mouse_button(terminal->emulator, 1, true, VTERM_MOD_NONE);
    vterm_mouse_button(terminal->emulator, 1, false, VTERM_MOD_NONE);
}

void
terminal_wheel(struct terminal *terminal, bool down, int row, int column)
{
    vterm_mouse_move(terminal->emulator, row, column, VTERM_MOD_NONE);
    vterm_mouse_button(terminal->emulator, down ? 5 : 4, true, VTERM_MOD_NONE);
}

void
terminal_resize(struct terminal *terminal, int rows, int columns)
{
    const struct winsize size = {.ws_row = (unsigned short)rows,
                                 .ws_col = (unsigned short)columns};

    take(terminal, 0);
    terminal->rows = rows;
    terminal->columns = columns;
    vterm_set_size(terminal->emulator, rows, columns);
    if (ioctl(terminal->master, TIOCSWINSZ, &size) != 0) {
        die("TIOCSWINSZ");
    }
}

void
terminal_hang_up(struct terminal *terminal)
{
    close(terminal->slave);
    close(terminal->master);
    terminal->slave = -1;
    terminal->master = -1;
}

/*
 * The end.
 */

bool
terminal_ends(struct terminal *terminal, int *status)
{
    bool good = terminal_until(terminal, "the command's end", ended, NULL);

    *status = terminal->status;
    if (terminal->master >= 0) {
        take(terminal, 0);
    }
    return good;
}

void
terminal_free(struct terminal *terminal)
{
    if (!terminal->ended) {
        kill(terminal->pid, SIGKILL);
        waitpid(terminal->pid, &terminal->status, 0);
    }
    if (terminal->master >= 0) {
        close(terminal->master);
        close(terminal->slave);
    }
    vterm_free(terminal->emulator);
    free(terminal->written);
    free(terminal);
}
