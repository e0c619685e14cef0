/** Segments of versions have 64 bits. */
export const MAX_SEGMENT = (1n << 64n) - 1n;
