import { describe, expect, it } from 'vitest';
import { INITIAL_STATE } from '../../../../src/core/publish/machine/state/placement-state.ts';
import { noteRivalWrite } from '../../../../src/core/publish/machine/state/own-writes.ts';

const NOW = 1_000_000;
const wrote = { ...INITIAL_STATE, isUncertain: false, wroteSinceRival: true };

describe('a round of another writer', () => {
  it.each([
    { name: 'is a change after a write of ours', state: wrote, rounds: 1 },
    { name: 'is one, however many changes it has', state: { ...wrote, wroteSinceRival: false }, rounds: 0 },
    {
      name: 'is no change that may be a write whose answer is missing',
      state: { ...wrote, isUncertain: true },
      rounds: 0,
    },
  ])('$name', ({ state, rounds }) => {
    const { rivalRoundsAtMs } = noteRivalWrite(state, { change: 'x', rivalAtMs: NOW });
    expect(rivalRoundsAtMs).toHaveLength(rounds);
  });
});
