// The reference workload: xorshift arithmetic, table updates, byte stores, branches on data, and a CRC loop.
// work() and crc() are those of the benchmark that all measurements share; do not tidy them up.

#include "guest.h"

const struct guest guest = {"mix", "iterations", 50000, 1000000000000, 1};

static u32 tab[256]; static u8 buf[1024];
__attribute__((noinline)) static u32 crc(const u8*p, u32 n){ u32 c=~0u; for(u32 i=0;i<n;i++){ c^=p[i]; for(int k=0;k<8;k++) c=(c>>1)^((c&1)?0xEDB88320u:0);} return ~c; }
__attribute__((noinline))
u64 work(u64 seed, u64 n){
  u64 s=seed*0x9E3779B97F4A7C15ull+1, sum=0;
  for(u64 i=0;i<n;i++){
    s^=s<<13; s^=s>>7; s^=s<<17;
    tab[s&255]+=(u32)s; buf[(s>>8)&1023]=(u8)(s>>20);
    if(s&(1ull<<40)) sum+=s*3; else sum-=tab[(s>>3)&255];
    if((i&63)==0) sum+=crc(buf+((s>>30)&511),16);
  }
  return sum;
}

// The same result by another way: the states of 64 iterations are made first, their stores and sums follow,
// and the CRC goes a byte at a time through a table.
static u64 work_in_blocks(u64 seed, u64 n) {
    static u32 counts[256];
    static u8 bytes[1024];
    static u32 crc_of_byte[256];
    for (u32 power = 128, c = 1; power; power /= 2) {
        c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
        for (u32 i = 0; i < 256; i += 2 * power) {
            crc_of_byte[i + power] = crc_of_byte[i] ^ c;
        }
    }

    u64 state = seed * 0x9e3779b97f4a7c15 + 1;
    u64 added = 0;
    u64 taken = 0;
    while (n) {
        u64 states[64];
        u64 block = n < 64 ? n : 64;
        n -= block;
        for (u64 i = 0; i < block; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            states[i] = state ^= state << 17;
        }
        for (u64 i = 0; i < block; i++) {
            u64 s = states[i];
            counts[(u8)s] += (u32)s;
            bytes[s >> 8 & 1023] = (u8)(s >> 20);
            taken += s >> 40 & 1 ? 0 : counts[(u8)(s >> 3)];
            added += s >> 40 & 1 ? s : 0;
            if (i == 0) {
                const u8 *p = bytes + (s >> 30 & 511);
                u32 c = 0xffffffff;
                for (const u8 *end = p + 16; p < end; p++) {
                    c = c >> 8 ^ crc_of_byte[(u8)c ^ *p];
                }
                taken -= c ^ 0xffffffff;
            }
        }
    }
    return 3 * added - taken;
}

bool run(u64 size, u64 seed) {
    u64 sum = work(seed, size);
    put_hex("sum", sum);
    return sum == work_in_blocks(seed, size);
}
