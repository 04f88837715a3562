#include "probe/core/calltree.h"

void
calltree_retire(struct calltree *tree, uintptr_t key)
{
    (void)tree;
    (void)key;
}
