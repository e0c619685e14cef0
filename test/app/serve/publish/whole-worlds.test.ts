import { beforeEach, describe, expect, it } from 'vitest';
import { WholeWorlds } from '../../../../src/app/serve/publish/whole-worlds.ts';
import type { World } from '../../../../src/core/snapshot/world.ts';

describe('WholeWorlds', () => {
  let isHalf: boolean;
  let revision: number;
  let asked: string[];
  let becomeWhole: () => void;
  let worlds: WholeWorlds;
  beforeEach(() => {
    [isHalf, revision, asked, becomeWhole] = [false, 1, [], () => undefined];
    worlds = new WholeWorlds({
      barrier: {
        get isHalf() {
          return isHalf;
        },
        onWhole: (listener) => (becomeWhole = listener),
      },
      revision: () => revision,
      lookAgain: (key) => asked.push(`look ${key}`),
      decideAgain: (key) => asked.push(`decide ${key}`),
    });
  });
  const made = () => worlds.made({} as World);

  it('takes what was decided before a commit began, and while none is on its way', () => {
    const world = made();
    isHalf = true;
    expect(worlds.isWhole('a/b', world)).toBe(true);
  });

  it('looks again at what was decided half way once the commit is there, and takes it when only the last answer was missing', () => {
    isHalf = true;
    const world = made();
    expect(worlds.isWhole('a/b', world)).toBe(false);
    isHalf = false;
    becomeWhole();
    expect(asked).toEqual(['look a/b']);
    expect(worlds.isWhole('a/b', world)).toBe(true);
    becomeWhole();
    expect(asked).toEqual(['look a/b']);
  });

  it('has it decided again when more came meanwhile', () => {
    isHalf = true;
    const world = made();
    [isHalf, revision] = [false, 2];
    expect(worlds.isWhole('a/b', world)).toBe(false);
    expect(asked).toEqual(['decide a/b']);
  });
});
