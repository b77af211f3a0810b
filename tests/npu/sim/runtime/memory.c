/* Blocks of device memory and of pinned host memory.
 *
 * A device address is reserved without access: a host that dereferences it faults.  What a block
 * holds lies elsewhere, in its shadow, which only workers and copies see.  Addresses are 64-byte
 * aligned and never more.  They come from a long range in turn, so that an address is used again
 * only after the whole range was. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim.h"

enum { ALIGNMENT = 64, SLACK = 32, REMEMBERED = 1024 };
static const size_t RANGE = (size_t)16 << 30;

static uintptr_t range_start, range_end, range_next;

static SimBlock **blocks; /* live, by address */
static int block_count, block_room;
static SimBlock *freed[REMEMBERED]; /* a ring; shadows gone once unpinned */
static int freed_next;

/* --- look-up ----------------------------------------------------------------------------- */

/* The index of the first block that ends above an address. */
static int place_of(uintptr_t address)
{
    int low = 0, high = block_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (blocks[middle]->address + blocks[middle]->capacity <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

SimBlock *sim_block_at(const void *address)
{
    int place = place_of((uintptr_t)address);
    bool inside = place < block_count && blocks[place]->address <= (uintptr_t)address;
    return inside ? blocks[place] : NULL;
}

const SimBlock *sim_block_freed(const void *address)
{
    for (int i = 1; i <= REMEMBERED; i++) {
        SimBlock *block = freed[(freed_next - i + REMEMBERED) % REMEMBERED];
        if (block == NULL) {
            break;
        }
        if ((uintptr_t)address - block->address < block->capacity) {
            return block;
        }
    }
    return NULL;
}

bool sim_is_device_address(const void *address)
{
    return (uintptr_t)address >= range_start && (uintptr_t)address < range_end;
}

/* --- making and freeing ------------------------------------------------------------------ */

/* A free stretch of the reserved range, or 0. */
static uintptr_t reserve(size_t capacity)
{
    if (range_start == 0) {
        for (size_t size = RANGE; size >= RANGE >> 8; size /= 2) {
            void *range = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                               -1, 0);
            if (range != MAP_FAILED) {
                range_start = range_next = (uintptr_t)range;
                range_end = range_start + size;
                break;
            }
        }
    }
    for (int turn = 0; turn < 2; turn++) {
        /* 64 modulo 128: aligned to 64 bytes and not to more. */
        uintptr_t address = (range_next & ~(uintptr_t)127) + 128 + ALIGNMENT;
        while (address + capacity < range_end) {
            int place = place_of(address);
            if (place == block_count || blocks[place]->address >= address + capacity) {
                range_next = address + capacity;
                return address;
            }
            address = blocks[place]->address + blocks[place]->capacity;
            address = (address & ~(uintptr_t)127) + 128 + ALIGNMENT;
        }
        range_next = range_start;
    }
    return 0;
}

static SimBlock *make(size_t size, int device)
{
    SimBlock *block = sim_allocate(1, sizeof *block);
    block->size = size;
    block->capacity = (size + 31) / 32 * 32 + SLACK;
    block->device = device;
    block->alive = true;
    block->shadow = aligned_alloc(ALIGNMENT, (block->capacity + 63) / 64 * 64);
    block->address = device == SIM_HOST ? (uintptr_t)block->shadow : reserve(block->capacity);
    if (block->shadow == NULL || block->address == 0) {
        free(block->shadow);
        free(block);
        return NULL;
    }
    memset(block->shadow, SIM_POISON, block->capacity);
    if (block_count == block_room) {
        block_room = block_room ? 2 * block_room : 256;
        blocks = realloc(blocks, (size_t)block_room * sizeof *blocks);
        if (blocks == NULL) {
            abort();
        }
    }
    int place = place_of(block->address);
    memmove(blocks + place + 1, blocks + place, (size_t)(block_count - place) * sizeof *blocks);
    blocks[place] = block;
    block_count++;
    sim_counters[SIM_BLOCKS]++;
    sim_counters[SIM_BYTES] += device == SIM_HOST ? 0 : (int64_t)block->capacity;
    sim_history_add(&block->history);
    return block;
}

static void drop_shadow(SimBlock *block)
{
    free(block->shadow);
    block->shadow = NULL;
}

/* Takes a block out of the registry; its memory stays while queued tasks refer to it. */
static void retire(SimBlock *block)
{
    int place = place_of(block->address);
    memmove(blocks + place, blocks + place + 1,
            (size_t)(block_count - place - 1) * sizeof *blocks);
    block_count--;
    sim_counters[SIM_BLOCKS]--;
    sim_counters[SIM_BYTES] -= block->device == SIM_HOST ? 0 : (int64_t)block->capacity;
    block->alive = false;
    memset(block->shadow, SIM_POISON, block->capacity);
    if (block->pins == 0) {
        drop_shadow(block);
    }
    while (freed[freed_next] != NULL && freed[freed_next]->pins > 0) {
        freed_next = (freed_next + 1) % REMEMBERED;
    }
    free(freed[freed_next]);
    freed[freed_next] = block;
    freed_next = (freed_next + 1) % REMEMBERED;
}

void sim_block_unpin(SimBlock *block)
{
    block->pins--;
    if (block->pins == 0 && !block->alive) {
        drop_shadow(block);
    }
}

static aclError release(void *address, bool host)
{
    const char *wanted = host ? "aclrtFreeHost" : "aclrtFree";
    if (address == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL, "%s(NULL)", wanted);
    }
    SimBlock *block = sim_block_at(address);
    if (block == NULL) {
        const SimBlock *gone = sim_block_freed(address);
        return gone != NULL && gone->address == (uintptr_t)address
                   ? sim_undefined("double-free", &gone->history, "%p was freed before", address)
                   : sim_undefined("free-unknown", NULL, "%p is no allocated address", address);
    }
    sim_history_add(&block->history);
    if ((block->device == SIM_HOST) != host) {
        return sim_undefined("free-wrong-kind", &block->history, "%s does not free %s memory",
                             wanted, host ? "device" : "host");
    }
    if (block->address != (uintptr_t)address) {
        return sim_undefined("free-interior", &block->history, "%p lies inside a block of %zu",
                             address, block->size);
    }
    const SimStream *stream = NULL;
    const SimTask *task = sim_pending_conflict(block, 0, block->capacity, true, &stream);
    aclError status = ACL_SUCCESS;
    if (task != NULL) {
        status = sim_undefined("free-in-use", &block->history,
                               "%p is freed while %s waits on stream %d", address, task->name,
                               stream->id);
    }
    retire(block);
    return status;
}

void sim_memory_free_device(int device)
{
    for (int i = block_count - 1; i >= 0; i--) {
        if (blocks[i]->device == device) {
            retire(blocks[i]);
        }
    }
}

void sim_memory_report_leaks(void)
{
    for (int i = 0; i < block_count; i++) {
        sim_violation("leak", &blocks[i]->history, "a %s block of %zu bytes was never freed",
                      blocks[i]->device == SIM_HOST ? "host" : "device", blocks[i]->size);
    }
}

void sim_memory_reset(void)
{
    while (block_count > 0) {
        retire(blocks[block_count - 1]);
    }
}

/* --- exported ---------------------------------------------------------------------------- */

static aclError allocate(void **address, size_t size)
{
    SimHandle *context = sim_current_context();
    if (context == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (address == NULL || size == 0) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "invalid-argument", NULL,
                          "an allocation of %zu bytes to %p", size, (void *)address);
    }
    sim_counters[SIM_ALLOCATIONS]++;
    bool injected = sim_fault_due(SIM_FAIL_ALLOCATION);
    int64_t free_bytes = sim_setting(SIM_MEMORY) - sim_counters[SIM_BYTES];
    if (injected || (int64_t)size > free_bytes) {
        return sim_failure(ACL_ERROR_RT_MEMORY_ALLOCATION, "%zu bytes do not fit into %lld%s",
                           size, (long long)free_bytes, injected ? " (injected)" : "");
    }
    SimBlock *block = make(size, ((SimContext *)context->object)->device);
    if (block == NULL) {
        return sim_failure(ACL_ERROR_RT_MEMORY_ALLOCATION, "no address for %zu bytes", size);
    }
    *address = (void *)block->address;
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void **address, size_t size, int policy)
{
    SIM_RUNTIME_CALL();
    (void)policy;
    return allocate(address, size);
}

aclError aclrtMallocAlign32(void **address, size_t size, int policy)
{
    SIM_RUNTIME_CALL();
    (void)policy;
    return allocate(address, size);
}

aclError aclrtMallocCached(void **address, size_t size, int policy)
{
    SIM_RUNTIME_CALL();
    (void)policy;
    return allocate(address, size);
}

aclError aclrtFree(void *address)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(release(address, false));
}

aclError aclrtMallocHost(void **address, size_t size)
{
    SIM_RUNTIME_CALL();
    if (sim_current_context() == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (address == NULL || size == 0) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "invalid-argument", NULL,
                          "an allocation of %zu bytes to %p", size, (void *)address);
    }
    SimBlock *block = make(size, SIM_HOST);
    if (block == NULL) {
        return sim_failure(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory");
    }
    *address = (void *)block->address;
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *address)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(release(address, true));
}

aclError aclrtGetMemInfo(int attribute, size_t *free_bytes, size_t *total)
{
    SIM_RUNTIME_CALL();
    (void)attribute;
    if (sim_current_context() == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (free_bytes == NULL || total == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL, "a result is NULL");
    }
    *total = (size_t)sim_setting(SIM_MEMORY);
    *free_bytes = *total - (size_t)sim_counters[SIM_BYTES];
    return ACL_SUCCESS;
}
