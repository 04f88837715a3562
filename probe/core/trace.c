#include "probe/core/trace.h"

struct site *
trace_site(struct trace *trace, struct registry *registry, struct site *unsampled)
{
    (void)trace;
    (void)registry;
    return unsampled;
}
