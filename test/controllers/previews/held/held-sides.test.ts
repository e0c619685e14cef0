import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  readHeldSides,
  withoutRefusedDeletions,
} from '../../../../src/controllers/previews/held/held-sides.ts';
import type { HubTrials, Trial } from '../../../../src/controllers/previews/held/hub-trials.ts';
import { mergeSources } from '../../../../src/core/preview/sides/merge-sources.ts';
import { snapshotOfObjects } from '../../../../src/core/sources/snapshot-of-objects.ts';
import { placement } from '../../../app/serve/fleet-fixture.ts';

const held = (object: KubeObject): Trial => ({ kind: 'held', object, left: [] });
const source = (name: string, spec: object = {}): SourceObject => ({
  object: placement(name, spec),
  location: { file: `${name}.yaml`, line: 1, column: 1 },
});
const fleet = (objects: readonly SourceObject[]) => ({
  ...{ name: 'fleet', rank: 0, budget: undefined, deletionWindowMs: undefined },
  ...{ allowEmpty: false, applies: true, objects },
});

/** Plans from a base to a head, on a hub that has the base if nothing else is given. */
function read(
  [base, head]: readonly [readonly SourceObject[], readonly SourceObject[]],
  apply: HubTrials['apply'],
  onHub = base,
) {
  const hub = snapshotOfObjects(onHub, { now: '2026-01-01T00:00:00Z' });
  return readHeldSides(
    {
      ...{ base: mergeSources([fleet(base)]), head: mergeSources([fleet(head)]), sources: [fleet(head)] },
      isDoubtful: () => false,
    },
    {
      hub,
      trials: { apply, delete: () => Promise.reject(new Error('nothing is deleted')) },
      emulation: { refusals: () => Promise.resolve([]), trials: undefined },
    },
  );
}

describe('the sides of a plan as the hub holds them', () => {
  const web = source('web', { numberOfClusters: 1 });

  it('ask about nothing but what the merge changes', async () => {
    const asked: string[] = [];
    await read(
      [
        [web, source('same')],
        [source('web'), source('same')],
      ],
      ({ object }) => {
        asked.push(object.metadata.name);
        return Promise.resolve(held(object));
      },
    );
    expect(asked).toEqual(['web']);
  });

  it('keep what the base declares of a refused object, and have none of a new one', async () => {
    const refuse = (): Promise<Trial> => Promise.resolve({ kind: 'refused', because: 'no' });
    const { head, findings } = await read([[web], [source('web'), source('new')]], refuse);
    expect(head.objects).toEqual([web]);
    expect(findings.head.map(({ message }) => message)).toEqual(
      Array(2).fill('the hub refuses the object, and it stays as it is: no'),
    );
  });

  it('are held before, and not after, where an object leaves Git', async () => {
    const scaled = source('web', { numberOfClusters: 2 });
    const { held: sides } = await read([[web], []], () => Promise.resolve(held(scaled.object)), [scaled]);
    expect([...sides.before.values()]).toEqual([scaled.object]);
    expect([...sides.after]).toEqual([]);
  });

  it('say how often and why the hub did not answer', async () => {
    const lacks = (): Promise<Trial> =>
      Promise.resolve({ kind: 'unknown', because: 'User "a" cannot patch' });
    const { notes } = await read([[web], [web, source('a'), source('b')]], lacks);
    expect(notes).toEqual([
      'For 2 of 2 objects the hub did not say whether it accepts the change: User "a" cannot patch.',
    ]);
  });

  it('ask about 200 objects, and say how many more there are', async () => {
    let count = 0;
    const many = Array.from({ length: 230 }, (_, at) => source(`p${at}`));
    const { notes } = await read([[web], [web, ...many]], ({ object }) => {
      count++;
      return Promise.resolve(held(object));
    });
    expect(count).toBe(200);
    expect(notes[0]).toContain('For 30 of 230 objects');
  });

  describe('of a hub that does not answer', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());
    const never = (): Promise<Trial> => new Promise(() => undefined);

    it('are read in five seconds, and named', async () => {
      const sides = read([[web], [web, source('a')]], never);
      await vi.advanceTimersByTimeAsync(5_000);
      expect((await sides).notes).toEqual([
        'For 1 of 1 objects the hub did not say whether it accepts the change: it was not asked, or too late.',
      ]);
    });

    it('hold up no deletion either', async () => {
      const judged = [
        {
          ...{ held: undefined, left: [], keptOnHub: [], withdrawn: [], notEvaluated: [] },
          deleted: [web.object],
        },
      ];
      const made = withoutRefusedDeletions(judged, { apply: never, delete: never });
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await made).toMatchObject({
        deletions: judged,
        notes: [expect.stringContaining('its deletion')],
      });
    });
  });
});
