import { describe, expect, it } from 'vitest';
import { type Cut, PARTS, SplitHarness } from './split-harness.ts';

const STORIES: readonly (readonly Cut[])[] = [
  ['four and two', 'three and three', 'all in one', 'four and two'],
  ['four and two', 'one, three and two', 'three and three', 'one, three and two', 'all in one'],
];

describe('a template that is spread over several works', () => {
  it.each(STORIES.map((story) => ({ story })))(
    'takes nothing away from the cluster when it is cut elsewhere: $story',
    async ({ story }) => {
      const harness = new SplitHarness();
      await harness.fleet.place('all', ['c1']);
      await harness.start();
      let uids: Record<string, string> | undefined;
      for (const [step, cut] of story.entries()) {
        await harness.cut(cut, String(step));
        await harness.fleet.settle(20_000);
        const contents = Object.entries(await harness.member.contents());
        expect(contents).toHaveLength(6);
        expect(contents.every(([, text]) => text.startsWith(`${step} `))).toBe(true);
        const now = Object.fromEntries(contents.map(([name, text]) => [name, text.split(' ')[1] as string]));
        expect(now).toEqual((uids ??= now));
        expect(harness.member.deleted).toEqual([]);
        expect(await harness.fleet.works()).toHaveLength(PARTS[cut]);
        expect(await harness.fleet.conditions()).toMatchObject({ PlacementRolledOut: 'True Complete' });
      }
      await harness.stop();
    },
  );

  it('deletes what left the template, bridges or not', async () => {
    const harness = new SplitHarness();
    await harness.fleet.place('all', ['c1']);
    await harness.start();
    await harness.cut('one, three and two', '0');
    await harness.fleet.settle(20_000);
    await harness.fleet.place('all', []);
    await harness.fleet.settle(20_000);
    expect(await harness.member.contents()).toEqual({});
    expect(await harness.fleet.works()).toEqual([]);
    await harness.stop();
  });
});
