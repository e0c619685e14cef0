import { describe, expect, it } from 'vitest';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { CommitStages } from '../../../../src/controllers/sources/progress/commit-stages.ts';
import type { SourceEvent } from '../../../../src/controllers/sources/progress/source-options.ts';

const WORK = { apiVersion: 'work.open-cluster-management.io/v1', kind: 'ManifestWork' };

/** A work of cluster c1, and the generation that its agent has applied. */
const work = (generation: number, applied: number): KubeObject => ({
  ...WORK,
  metadata: { name: 'web', namespace: 'c1', generation },
  status: { conditions: [{ type: 'Applied', status: 'True', observedGeneration: applied }] },
});

/** Nothing in these tests ends a subscription. */
const subscribed = (_count: number) => (): void => undefined;

/** The stages with everything around them steered by hand. Each step takes a second. */
class Steered {
  readonly #clock = new FakeClock();
  readonly #complete: (() => void)[] = [];
  readonly #works: ((change: ObjectChange) => void)[] = [];
  readonly reached: string[] = [];
  isDeciding = false;
  mayWrite = true;
  readonly stages: CommitStages;

  constructor(sources = ['fleet']) {
    this.stages = new CommitStages({
      clock: this.#clock,
      sources,
      barrier: { onCommitsComplete: (listener) => void this.#complete.push(listener) },
      mayWrite: () => this.mayWrite,
      isDeciding: () => this.isDeciding,
      observers: [
        {
          reached: ({ id, fetchBeganAtMs }, stage, atMs) =>
            void this.reached.push(`${id} ${stage} ${(atMs - fetchBeganAtMs) / 1000}`),
        },
      ],
    });
    this.stages.followWorks({
      works: { get: () => undefined, onChange: (listener) => subscribed(this.#works.push(listener)) },
      replicaSets: { get: () => undefined, onChange: () => subscribed(0) },
      whenPagesShown: () => Promise.resolve(),
      whenIdle: () => Promise.resolve(),
    });
  }

  async #step(): Promise<void> {
    // Promises that are resolved already take several turns.
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
    await this.#clock.advance(1_000);
  }

  async read(id: string, source = 'fleet'): Promise<void> {
    this.stages.handle({ kind: 'fetching', source });
    await this.#step();
    this.stages.handle({ kind: 'read', source, content: { commit: { id } } } as unknown as SourceEvent);
    await this.#step();
  }

  async complete(source = 'fleet'): Promise<void> {
    this.stages.handle({ kind: 'complete', source });
    for (const listener of this.#complete) listener();
    await this.#step();
  }

  async decided(placement: string): Promise<void> {
    this.stages.record({ kind: 'decided', placement } as never);
    await this.#step();
  }

  async published(placement: string, writes = 1): Promise<void> {
    this.stages.record({ kind: 'published', placement, writes } as never);
    await this.#step();
  }

  async held(placement: string): Promise<void> {
    this.stages.record({ kind: 'held', placement } as never);
    await this.#step();
  }

  async roundEnded(tookMs: number): Promise<void> {
    this.stages.roundEnded(tookMs);
    await this.#step();
  }

  async works(after: KubeObject | undefined): Promise<void> {
    for (const listener of this.#works) listener({ key: 'c1/web', before: undefined, after });
    await this.#step();
  }
}

describe('the stages of commits', () => {
  it('count from the begin of the fetch', async () => {
    const fleet = new Steered();
    await fleet.read('a');
    await fleet.complete();
    expect(fleet.reached).toEqual(['a followed 2', 'a decided 2']);
  });

  it('wait for a round of decisions that began when all of the commit was there', async () => {
    const fleet = new Steered();
    fleet.isDeciding = true;
    await fleet.read('a');
    await fleet.complete();
    await fleet.roundEnded(2_000);
    expect(fleet.reached).toEqual(['a followed 2']);
    await fleet.roundEnded(500);
    expect(fleet.reached).toEqual(['a followed 2', 'a decided 4']);
  });

  it('publish with the last placement that moved', async () => {
    const fleet = new Steered();
    fleet.isDeciding = true;
    await fleet.read('a');
    await fleet.complete();
    for (const placement of ['web', 'api', 'same']) await fleet.decided(placement);
    await fleet.roundEnded(0);
    await fleet.published('web');
    fleet.stages.settled('same');
    expect(fleet.reached).toEqual(['a followed 2', 'a decided 6']);
    await fleet.published('api');
    expect(fleet.reached.at(-1)).toBe('a published 8');
  });

  it('end before what is held', async () => {
    const fleet = new Steered();
    await fleet.read('a');
    await fleet.decided('web');
    await fleet.decided('api');
    await fleet.complete();
    await fleet.published('web');
    await fleet.held('api');
    await fleet.published('api');
    expect(fleet.reached).toEqual(['a followed 4', 'a decided 4']);
  });

  it('let a commit that is overtaken reach each stage with the newer one', async () => {
    const fleet = new Steered();
    await fleet.read('a');
    await fleet.read('b');
    await fleet.decided('web');
    await fleet.complete();
    await fleet.published('web');
    expect(fleet.reached).toEqual([
      ...['a followed 5', 'b followed 3', 'a decided 5', 'b decided 3'],
      ...['a published 6', 'b published 4'],
    ]);
  });

  it('wait for every source of the commit, and count it once', async () => {
    const fleet = new Steered(['fleet', 'apps']);
    await fleet.read('a', 'fleet');
    await fleet.read('a', 'apps');
    await fleet.complete('fleet');
    expect(fleet.reached).toEqual([]);
    await fleet.complete('apps');
    expect(fleet.reached).toEqual(['a followed 5', 'a decided 5']);
  });

  it('wait until the agent has applied the generation that was written', async () => {
    const fleet = new Steered();
    await fleet.read('a');
    fleet.stages.handle({ kind: 'applied', source: 'fleet', object: work(2, 1) });
    await fleet.complete();
    // What the watch shows late.
    await fleet.works(work(1, 1));
    await fleet.works(work(2, 1));
    expect(fleet.reached).not.toContainEqual(expect.stringContaining('applied'));
    await fleet.works(work(2, 2));
    expect(fleet.reached.at(-1)).toBe('a applied 5');
  });

  it('know nothing of a standby, of other sources, and of a commit that is read again', async () => {
    const fleet = new Steered();
    await fleet.read('a', 'others');
    await fleet.complete('others');
    fleet.mayWrite = false;
    await fleet.read('a');
    fleet.mayWrite = true;
    await fleet.read('a');
    await fleet.complete();
    expect(fleet.reached).toEqual([]);
  });

  it('give up the oldest of very many commits', async () => {
    const fleet = new Steered();
    for (let n = 0; n < 150; n++) await fleet.read(`c${n}`);
    await fleet.complete();
    expect(fleet.reached.filter((line) => line.includes('followed'))).toHaveLength(100);
    expect(fleet.reached[0]).toContain('c50 followed');
  });
});
