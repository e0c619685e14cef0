import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planInputs } from '../../src/app/generator-inputs/plan-inputs.ts';
import { readHubSnapshot } from '../../src/controllers/explanations/offline-snapshot.ts';
import { dataOf } from '../../src/controllers/publication/hub-records.ts';
import { CONFIG_MAP, NAMESPACE as NAMESPACE_KIND } from '@berth/kube/model/kinds';
import { fieldChanges } from '../../src/core/preview/effects/field-changes.ts';
import { RECORDS_NAME, recordsOf } from '../../src/core/publish/record/compact-record.ts';
import type { Plan } from '../../src/core/preview/plan.ts';
import { generateApplications } from '@berth/applicationset/generate-applications';
import type { JsonValue } from '@berth/applicationset/json/json-value';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { seedsFrom } from '@berth/test-kit/seeded-random';
import {
  applicationSets,
  beginning,
  change,
  type Declared,
  declaredAfter,
  filesOf,
  NAMESPACE,
} from './plan-applications/changes.ts';

/*
 * Random repositories with ApplicationSets, and random changes of them: each is planned on the hub and merged, and what Argo CD makes then of
 * the decisions that the controller published is what the plan said, Application by Application. Every other history has an open budget;
 * in the others decisions are held, and the Applications stay. BERTH_PLAN_COMMITS sets the number of changes of each history,
 * BERTH_PLAN_HISTORIES that of histories, BERTH_SEED the first seed.
 */
const COMMITS = Number(process.env['BERTH_PLAN_COMMITS'] ?? 6);
const HISTORIES = Number(process.env['BERTH_PLAN_HISTORIES'] ?? 2);
const WAIT = { timeout: PATIENCE_MS, interval: 100 };

/** By `SET/NAME`. */
type Applications = Readonly<Record<string, object>>;

/**
 * What Argo CD makes of these ApplicationSets with the decisions that the hub has now. Of one that fails the Applications stay.
 * @param standing those that are there already
 */
async function applicationsOn(
  fleet: ServedFleet,
  declared: Declared,
  standing: Applications,
): Promise<Applications> {
  const snapshot = await readHubSnapshot(fleet.hub.api, '2026-01-01T00:00:00Z');
  const inputs = planInputs(NAMESPACE, snapshot, []);
  return Object.fromEntries(
    applicationSets(declared).flatMap((set): readonly (readonly [string, object])[] => {
      const made = generateApplications(set as unknown as JsonValue, inputs);
      if ('error' in made)
        return Object.entries(standing).filter(([name]) => name.startsWith(`${set.metadata.name}/`));
      return made.applications.map((application) => {
        const { metadata } = application as { readonly metadata: { readonly name: string } };
        return [`${set.metadata.name}/${metadata.name}`, application] as const;
      });
    }),
  );
}

type Change = Pick<Plan['applications'][number]['applications'][number], 'change' | 'fields'>;

/** What a plan says of each Application, as `difference` names it. */
function saidBy({ applications }: Plan): Readonly<Record<string, Change>> {
  return Object.fromEntries(
    applications.flatMap(({ name: set, applications: changed, notRendered }) => {
      expect(notRendered).toBeUndefined();
      return changed.map(({ name, change: kind, fields }) => [`${set}/${name}`, { change: kind, fields }]);
    }),
  );
}

function difference(before: Applications, after: Applications): Readonly<Record<string, Change>> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    names.flatMap((name): readonly (readonly [string, Change])[] => {
      const [old, now] = [before[name], after[name]];
      if (old === undefined) return [[name, { change: 'created', fields: [] }]];
      if (now === undefined) return [[name, { change: 'deleted', fields: [] }]];
      const fields = fieldChanges(old, now);
      return fields.length === 0 ? [] : [[name, { change: 'changed', fields }]];
    }),
  );
}

class ApplicationsHistory {
  readonly #fleet: ServedFleet;
  #declared: Declared;
  #standing: Applications = {};
  readonly #isOpen: boolean;

  private constructor(fleet: ServedFleet, declared: Declared, isOpen: boolean) {
    this.#fleet = fleet;
    this.#declared = declared;
    this.#isOpen = isOpen;
  }

  static async begin(declared: Declared, isOpen: boolean): Promise<ApplicationsHistory> {
    const fleet = await ServedFleet.create();
    const history = new ApplicationsHistory(fleet, declared, isOpen);
    history.#commit('First', 0);
    const budget = isOpen ? { budget: { percent: 100, atLeast: 2 } } : {};
    const running = await fleet.serve({
      sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' }, kinds: [] }],
      ...budget,
    });
    await history.#applied(0);
    await running.whenReady();
    return history;
  }

  close(): Promise<void> {
    return this.#fleet.close();
  }

  async merge(said: Declared, number: number): Promise<void> {
    const { git, hub } = this.#fleet;
    const before = await this.#whenIdle(this.#standing);
    git.run('checkout', '-q', '-B', 'next', 'main');
    this.#declared = declaredAfter(this.#declared, said);
    this.#commit(`Change ${number}`, number);
    const flags = ['--kubeconfig', hub.kubeconfig, '--embedded', '--argocd-namespace', NAMESPACE];
    if (this.#isOpen) flags.push('--removal-budget', '100%');
    const { stdout, stderr } = await this.#fleet.berth(
      'plan',
      '--base',
      'main',
      '--head',
      'next',
      ...flags,
      '-o',
      'json',
    );
    expect(stderr).toBe('');
    const plan = JSON.parse(stdout) as Plan;
    // The hub follows main, so nothing but holds can wait there.
    expect(plan.waiting.filter(({ kind }) => kind === 'change' || kind === 'deletion')).toEqual([]);
    const planned = saidBy(plan);
    git.merge('next');
    await this.#applied(number);
    await expect
      .poll(async () => difference(before, await applicationsOn(this.#fleet, this.#declared, before)), WAIT)
      .toEqual(planned);
    // It is so, and it stays so.
    this.#standing = await this.#whenIdle(before);
    expect(difference(before, this.#standing)).toEqual(planned);
    await this.#recorded();
  }

  /** What the next plan knows of used budgets it reads in the records on the hub. */
  async #recorded(): Promise<void> {
    const published = this.#fleet.events.flatMap((event) =>
      event.kind === 'published' ? [[event.placement, event.record] as const] : [],
    );
    const hashes = [...new Map(published).values()];
    await expect
      .poll(async () => {
        const key = { namespace: NAMESPACE, name: RECORDS_NAME };
        const written = recordsOf(dataOf(await this.#fleet.hub.api.get(CONFIG_MAP, key)));
        return hashes.filter((hash) => !written.some((record) => record.hash === hash));
      }, WAIT)
      .toEqual([]);
  }

  #commit(message: string, number: number): void {
    const { git } = this.#fleet;
    const files = Object.entries(filesOf(this.#declared, number)).filter(
      ([file, text]) => text !== undefined || existsSync(join(git.path, file)),
    );
    git.commit(Object.fromEntries(files), message);
  }

  async #applied(number: number): Promise<void> {
    await expect
      .poll(async () => {
        const marker = await this.#fleet.hub.api.get(NAMESPACE_KIND, { namespace: '', name: 'marker' });
        return marker?.metadata.annotations?.['change'];
      }, WAIT)
      .toBe(String(number));
  }

  /** Nothing tells that nothing more comes: it is looked at until several looks in a row show the same. */
  async #whenIdle(standing: Applications): Promise<Applications> {
    let [last, same] = ['', 0];
    for (;;) {
      const now = await applicationsOn(this.#fleet, this.#declared, standing);
      const happened = this.#fleet.events.filter(({ kind }) => kind !== 'synced').length;
      const text = JSON.stringify([now, happened]);
      same = text === last ? same + 1 : 0;
      last = text;
      if (same === 4) return now;
      // fixed wait: the pace of looks
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

describe('the Applications that a plan says', () => {
  it.each([...seedsFrom(100, HISTORIES)])(
    'are those that Argo CD makes after the merge (seed %i)',
    async (seed) => {
      const [first] = fc.sample(beginning, { numRuns: 1, seed });
      const history = await ApplicationsHistory.begin(first as Declared, seed % 2 === 0);
      try {
        for (const [number, said] of fc.sample(change, { numRuns: COMMITS, seed }).entries())
          await history.merge(said, number + 1);
      } finally {
        await history.close();
      }
    },
  );
});
