import { describe, expect, it } from 'vitest';
import { correctionAllowedAtMs, newWorkMemory, noteCorrection } from '../../src/work/agent-state.ts';

const RESYNC_MS = 300_000;
const QUIET_MS = 600_000;

/** How long after the last one of `corrections`, made at once, the next is allowed; 0: at once. */
function waitAfter(corrections: number): number {
  const memory = newWorkMemory();
  for (let count = 0; count < corrections; count++) noteCorrection(memory, 1_000_000);
  const allowedAtMs = correctionAllowedAtMs(memory, RESYNC_MS);
  return Math.max(0, allowedAtMs - 1_000_000);
}

describe('corrections of drift', () => {
  it.each([
    [0, 0],
    [1, 0],
    [2, 0],
    [3, 1_000],
    [4, 2_000],
    [5, 4_000],
    [11, 256_000],
    // No longer than a resync.
    [12, RESYNC_MS],
    [1_000, RESYNC_MS],
  ])('after %i in quick succession the next one waits %i ms', (corrections, want) => {
    expect(waitAfter(corrections)).toBe(want);
  });

  it.each([
    { name: 'are counted on within ten minutes', quietMs: QUIET_MS, want: 12 },
    { name: 'are counted from one again after ten quiet minutes', quietMs: QUIET_MS + 1, want: 1 },
  ])('$name', ({ quietMs, want }) => {
    const memory = newWorkMemory();
    for (let count = 0; count < 11; count++) noteCorrection(memory, 1_000_000);
    noteCorrection(memory, 1_000_000 + quietMs);
    expect([memory.corrections, memory.correctedAtMs]).toEqual([want, 1_000_000 + quietMs]);
  });
});
