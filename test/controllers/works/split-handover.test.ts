import { describe, expect, it } from 'vitest';
import { type Cut, PARTS, SplitWorld } from './split-world.ts';

const STORIES: readonly (readonly Cut[])[] = [
  ['four and two', 'three and three', 'all in one', 'four and two'],
  ['four and two', 'one, three and two', 'three and three', 'one, three and two', 'all in one'],
];

describe('a template that is spread over several works', () => {
  it.each(STORIES.map((story) => ({ story })))(
    'takes nothing away from the cluster when it is cut elsewhere: $story',
    async ({ story }) => {
      const world = new SplitWorld();
      await world.fleet.place('all', ['c1']);
      await world.start();
      let uids: Record<string, string> | undefined;
      for (const [step, cut] of story.entries()) {
        await world.cut(cut, String(step));
        await world.fleet.settle(20_000);
        const contents = Object.entries(await world.member.contents());
        expect(contents).toHaveLength(6);
        expect(contents.every(([, text]) => text.startsWith(`${step} `))).toBe(true);
        const now = Object.fromEntries(contents.map(([name, text]) => [name, text.split(' ')[1] as string]));
        expect(now).toEqual((uids ??= now));
        expect(world.member.deleted).toEqual([]);
        expect(await world.fleet.works()).toHaveLength(PARTS[cut]);
        expect(await world.fleet.conditions()).toMatchObject({ PlacementRolledOut: 'True Complete' });
      }
      await world.stop();
    },
  );

  it('lets go of what left the template, bridges or not', async () => {
    const world = new SplitWorld();
    await world.fleet.place('all', ['c1']);
    await world.start();
    await world.cut('one, three and two', '0');
    await world.fleet.settle(20_000);
    await world.fleet.place('all', []);
    await world.fleet.settle(20_000);
    expect(await world.member.contents()).toEqual({});
    expect(await world.fleet.works()).toEqual([]);
    await world.stop();
  });
});
