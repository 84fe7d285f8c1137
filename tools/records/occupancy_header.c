/* NVIDIA's own calculator, as a function that Python can call: tests/utils/machine/test_occupancy.py.
 *
 * limits: compute capability (major, minor), threads per block and SM, registers per block and SM.
 * shared: bytes per block, per SM, per block at the most, and reserved per block.
 * room: filled with the blocks that warps, blocks, registers and shared memory have room for.
 * Returns the blocks per SM, or minus the error.
 */
#include <limits.h>
#include "cuda_occupancy.h"

int blocks(const int limits[6], const size_t shared[4], int threads, int registers,
           size_t shared_bytes, int carveout, int room[4]) {
    cudaOccDeviceProp device = {0};
    cudaOccFuncAttributes kernel = {0};
    cudaOccDeviceState state = {CACHE_PREFER_NONE, carveout};
    cudaOccResult result;

    device.computeMajor = limits[0];
    device.computeMinor = limits[1];
    device.maxThreadsPerBlock = limits[2];
    device.maxThreadsPerMultiprocessor = limits[3];
    device.regsPerBlock = limits[4];
    device.regsPerMultiprocessor = limits[5];
    device.warpSize = 32;
    device.numSms = 1;
    device.sharedMemPerBlock = shared[0];
    device.sharedMemPerMultiprocessor = shared[1];
    device.sharedMemPerBlockOptin = shared[2];
    device.reservedSharedMemPerBlock = shared[3];

    kernel.maxThreadsPerBlock = limits[2];
    kernel.numRegs = registers;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = shared[2];
    kernel.numBlockBarriers = 1;

    cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &device, &kernel, &state, threads, shared_bytes);
    room[0] = result.blockLimitWarps;
    room[1] = result.blockLimitBlocks;
    room[2] = result.blockLimitRegs;
    room[3] = result.blockLimitSharedMem;
    return error ? -(int)error : result.activeBlocksPerMultiprocessor;
}
